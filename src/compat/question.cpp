#include "compat/question.h"

#include <algorithm>

#include "base/text.h"
#include "compat/gpu_names.h"
#include "compat/images.h"

namespace pawl::compat {

namespace {

Gpu Dress(const KnowledgeBase& knowledge, const Device& device) {
  Gpu gpu;
  gpu.device = &device;
  gpu.cls = knowledge.FindClass(device.cls);
  gpu.min_driver = device.min_driver;
  gpu.min_driver_text = device.min_driver_text;
  gpu.min_driver_from = device.from;
  gpu.open_kernel = device.open_kernel;
  gpu.open_kernel_from = device.from;
  for (const Override& row : knowledge.overrides) {
    if (!row.pci_ids.Contains(device.pci_id)) continue;
    if (row.rule == "min_driver") {
      gpu.min_driver = VersionOf(row.value);
      gpu.min_driver_text = row.value;
      gpu.min_driver_reason = row.reason;
      gpu.min_driver_from = row.from;
    } else if (row.rule == "open_kernel") {
      gpu.open_kernel = row.value;
      gpu.open_kernel_reason = row.reason;
      gpu.open_kernel_from = row.from;
    }
  }
  return gpu;
}

bool MayUseForward(const Gpu& gpu, bool ngc_ready) {
  if (gpu.cls == nullptr) return false;
  return gpu.cls->forward_compat == "true" ||
         (gpu.cls->forward_compat == "ngc_ready_only" && ngc_ready);
}

std::string Ask(const std::string& text, const GpuMatch& match) {
  if (match.candidates.empty()) return "GPU " + text + ": in no list";
  std::vector<std::string> names;
  for (const Device* device : match.candidates) {
    names.push_back(std::string(device->name) + " (" + std::string(device->pci_id) + ")");
    if (names.size() == 6) break;
  }
  return "GPU " + text + ": could be " + Join(names, ", ") +
         (match.candidates.size() > names.size() ? ", …" : "");
}

void TakeGpus(Question& question) {
  for (const std::string& text : question.input.gpus) {
    const GpuMatch match = FindGpu(question.knowledge, text);
    if (match.device == nullptr) {
      question.gpu_unknown = true;
      question.unknown.push_back(Ask(text, match));
      question.warnings.push_back(
          {"GPU_UNKNOWN:" + text, {}, FromRule(question.knowledge, "devices")});
      continue;
    }
    const auto same = [&](const Gpu& gpu) { return gpu.device == match.device; };
    if (std::ranges::none_of(question.gpus, same))
      question.gpus.push_back(Dress(question.knowledge, *match.device));
  }
  std::ranges::sort(question.gpus, {}, [](const Gpu& gpu) { return gpu.device->pci_id; });
  std::ranges::sort(question.unknown);
  std::ranges::sort(question.warnings, {}, &Reason::code);
  question.forward_class = std::ranges::all_of(
      question.gpus, [&](const Gpu& gpu) { return MayUseForward(gpu, question.input.ngc_ready); });
}

void TakeKernel(Question& question) {
  const Input& input = question.input;
  if (!input.compiler.empty()) {
    question.compiler = ParseCompiler(input.compiler);
    if (!question.compiler)
      question.unknown.push_back("compiler " + input.compiler +
                                 ": neither gcc nor clang with a version");
  }
  if (input.kernel.empty()) return;
  question.kernel = ParseKernel(input.kernel, input.kernel_build, input.os_id);
  if (!question.kernel) {
    question.unknown.push_back("kernel " + input.kernel + ": does not begin with a version");
    question.warnings.push_back(
        {"KERNEL_UNKNOWN:" + input.kernel, {}, FromRule(question.knowledge, "abi_steps")});
    return;
  }
  if (question.knowledge.abi_steps.empty() || question.kernel->enterprise) return;
  const AbiStep& newest = question.knowledge.abi_steps.back();
  const Version& version = question.kernel->version;
  if (std::pair(version.major(), version.minor()) >
      std::pair(newest.kernel_from.major(), newest.kernel_from.minor())) {
    question.unknown.push_back("kernel " + question.kernel->stable +
                               ": newer than the newest that the data knows (" +
                               std::string(newest.kernel_text) + ")");
  }
}

void TakeCuda(Question& question, const std::string& cuda, const CudaNeed& like) {
  CudaNeed need = like;
  need.toolkit = question.knowledge.FindToolkit(cuda);
  if (need.toolkit == nullptr) {
    question.unknown.push_back("CUDA " + cuda + ": no such toolkit in the data");
    question.warnings.push_back({"CUDA_UNKNOWN", {}, FromRule(question.knowledge, "toolkits")});
    return;
  }
  question.cuda.push_back(need);
}

void TakeImage(Question& question) {
  const ImageContent content = FindImage(question.knowledge, question.input.image);
  if (!content.known) {
    question.unknown.push_back("image " + question.input.image +
                               ": in no list, so its CUDA is not known");
    question.warnings.push_back(
        {"IMAGE_UNKNOWN", {}, FromRule(question.knowledge, "base_image_tags")});
    return;
  }
  if (!content.cuda.empty()) {
    TakeCuda(question, content.cuda,
             {nullptr, question.input.forward_compat, content.min_cc, content.from});
  }
  if (content.framework && !question.framework) question.framework = content.framework;
}

void TakeDriver(Question& question) {
  const std::string& driver = question.input.driver;
  if (driver.find('.') != std::string::npos) {
    question.pinned_version = driver;
    if (question.knowledge.FindVersion(driver) == nullptr)
      question.unknown.push_back("driver " + driver + ": in no list of releases");
  } else {
    question.pinned_branch = driver;
  }
}

}  // namespace

Question::Question(const KnowledgeBase& with, const Input& asked) : knowledge(with), input(asked) {
  framework = input.framework;
  TakeGpus(*this);
  TakeKernel(*this);
  if (!input.cuda.empty()) TakeCuda(*this, input.cuda, {nullptr, input.forward_compat, {}, {}});
  if (!input.image.empty()) TakeImage(*this);
  TakeDriver(*this);
}

Provenance FromRule(const KnowledgeBase& knowledge, std::string_view id) {
  if (const Rule* rule = knowledge.FindRule(id)) return rule->from;
  return {id, {}, Confidence::kInferred};  // the table of that name, which lacks a row
}

}  // namespace pawl::compat
