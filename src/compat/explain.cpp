#include "compat/explain.h"

#include <algorithm>
#include <array>

#include "compat/cuda_rules.h"
#include "compat/delivery_rules.h"
#include "compat/kernel_rules.h"

namespace pawl::compat {

namespace {

// Rules that no row of the data states, with a public page that does.
struct OwnRule {
  std::string_view id, source;
  Confidence confidence;
};
constexpr std::array<OwnRule, 3> kOwnRules = {{
    {"secure_boot", "https://docs.kernel.org/admin-guide/module-signing.html",
     Confidence::kDocumented},
    {"enterprise_kernels", "https://access.redhat.com/security/updates/backporting",
     Confidence::kDocumented},
    {"build_records", "a build of these modules for this kernel, recorded here",
     Confidence::kDocumented},
}};

struct Meaning {
  std::string_view code, before, after;  // around the code's argument
};
constexpr std::array<Meaning, 34> kMeanings = {{
    {"CLASS_UNSUPPORTED",
     "this GPU has a driver stack of its own; the data-center driver is not for it", ""},
    {"VGPU_GUEST_DRIVER",
     "this is a virtual GPU: it needs the vGPU guest driver of its host, not the public driver",
     ""},
    {"BRANCH_UNKNOWN", "no release of this driver branch is known", ""},
    {"ARCH_DROPPED", "newer branches no longer drive ", " GPUs"},
    {"DRIVER_TOO_OLD_FOR_GPU", "this driver is older than the first that can drive GPU ", ""},
    {"GPU_NOT_LISTED", "NVIDIA's list for this driver does not name GPU ",
     " yet; it may still work"},
    {"GPU_UNKNOWN", "no list names GPU ", ""},
    {"NO_COMMON_FLAVOUR",
     "no kind of kernel modules (open, proprietary) suits all these GPUs and the wish", ""},
    {"FLAVOUR_NOT_IN_BRANCH",
     "this branch does not come with the kind of kernel modules that is needed", ""},
    {"KERNEL_ABI", "this driver does not build on kernels from ", " on"},
    {"KERNEL_UNKNOWN", "whether this driver builds is not established for kernel ", ""},
    {"KERNEL_BEFORE_FIX", "this driver is older than the first known fix for kernel ",
     "; it may not build"},
    {"BREAKAGE", "known breakage ", ""},
    {"BUILD_FAILED_HERE", "building exactly this failed here before", ""},
    {"PREBUILT_OVERRIDES", "it has been built for this kernel, which overrules ", ""},
    {"SECURE_BOOT_UNSIGNED",
     "Secure Boot is enforced and nobody signs modules that a node builds for itself", ""},
    {"KERNEL_BACKPORTS",
     "an enterprise kernel: its number does not tell what is in it, so upstream limits were not "
     "applied",
     ""},
    {"CUDA_DROPS_GPU", "this CUDA no longer makes code for compute capability ", ""},
    {"CUDA_TOO_NEW", "this CUDA needs a newer driver, also with what compatibility allows", ""},
    {"CUDA_PTX_TOO_NEW",
     "the code needs PTX compiled at run time, which an older driver refuses (error 222)", ""},
    {"CUDA_UNKNOWN", "this CUDA is in no list, so it was not checked", ""},
    {"PTX_ONLY", "this CUDA is older than the GPU: no machine code for compute capability ",
     ", only PTX"},
    {"NO_KERNEL_IMAGE", "the build holds no code for compute capability ",
     " (\"no kernel image is available\")"},
    {"FRAMEWORK_DRIVER_FLOOR", "the framework itself asks for a newer driver", ""},
    {"FRAMEWORK_UNKNOWN", "this release of the framework is in no list, so it was not checked", ""},
    {"IMAGE_UNKNOWN", "this container image is in no list, so its CUDA was not checked", ""},
    {"NO_PRECOMPILED", "no precompiled image is built for this system, kernel and branch", ""},
    {"NO_CONTAINER_IMAGE", "NVIDIA has not published a driver container of this version", ""},
    {"NO_HOST_PACKAGE", "this Ubuntu release has no such driver package", ""},
    {"OS_NOT_LISTED", "this operating system is not among those that NVIDIA lists for the operator",
     ""},
    {"BRANCH_EOL", "this driver branch is past its end of life: no more security fixes", ""},
    {"FLAVOUR_SWITCHED", "the branch's usual modules do not build on this kernel, these do: ", ""},
    {"POLICY_NOT_MET", "no branch of the kind that the policy asks for passes", ""},
    {"", "", ""},
}};

std::string_view Kind(std::string_view code) { return code.substr(0, code.find(':')); }

std::string_view Argument(std::string_view code) {
  const size_t colon = code.find(':');
  return colon == std::string_view::npos ? std::string_view{} : code.substr(colon + 1);
}

std::string GpuName(const KnowledgeBase& knowledge, std::string_view id) {
  const Device* device = knowledge.FindDevice(id);
  return device == nullptr ? std::string(id)
                           : std::string(device->name) + " (" + std::string(id) + ")";
}

// What the row itself adds.
std::string OwnWords(const Reason& reason) {
  if (reason.detail.empty()) return "";
  const std::string_view kind = Kind(reason.code);
  if (kind == "ARCH_DROPPED") return ", the last is " + std::string(reason.detail);
  if (kind == "DRIVER_TOO_OLD_FOR_GPU") return ": " + std::string(reason.detail);
  if (kind == "GPU_NOT_LISTED") return " (listed from " + std::string(reason.detail) + ")";
  if (kind == "FRAMEWORK_DRIVER_FLOOR") return ": " + std::string(reason.detail);
  if (kind == "BRANCH_EOL") return " (" + std::string(reason.detail) + ")";
  return ": " + std::string(reason.detail);
}

void ExplainBranch(const Question& question, const Verdict& verdict, Answer& answer) {
  const Candidate& candidate = verdict.candidate;
  if (candidate.branch == nullptr) return;
  const Branch& branch = *candidate.branch;
  std::string text = "branch " + std::string(branch.branch) + ": " + std::string(branch.type);
  if (!branch.eol.empty()) text += ", end of life " + std::string(branch.eol);
  text += branch.EndOfLife(question.input.today) ? " (past)" : "";
  text += ", CUDA " + std::string(branch.cuda_umd_text) + " in the driver";
  AddFact(answer, "", text, branch.from);
  if (candidate.row == nullptr) return;
  std::string release = "driver " + candidate.version;
  if (!candidate.row->date.empty()) release += " of " + std::string(candidate.row->date);
  release +=
      candidate.row->container ? ", with a driver container" : ", without a driver container";
  AddFact(answer, "", release, candidate.row->from);
}

void ExplainKernel(const Question& question, const Verdict& verdict, Answer& answer) {
  if (!question.kernel || question.kernel->enterprise) return;
  const AbiStep* last = nullptr;
  for (const AbiStep& step : question.knowledge.abi_steps) {
    if (step.kernel_from <= question.kernel->version &&
        step.For(verdict.candidate.branch_text, verdict.open) != nullptr)
      last = &step;
  }
  if (last == nullptr) return;
  const AbiStep::FirstOk& first = *last->For(verdict.candidate.branch_text, verdict.open);
  if (first.fix != AbiStep::Fix::kVersion) return;
  AddFact(answer, "",
          "branch " + verdict.candidate.branch_text + " builds on kernels from " +
              std::string(last->kernel_text) + " on since " + std::string(first.version_text),
          last->from);
}

void ExplainCuda(const Question& question, const Verdict& verdict, Answer& answer) {
  const Candidate& candidate = verdict.candidate;
  for (const CudaNeed& need : question.cuda) {
    const Toolkit& toolkit = *need.toolkit;
    std::string text = "CUDA " + std::string(toolkit.cuda) + ": all features from driver " +
                       std::string(toolkit.min_driver_full_text);
    if (toolkit.number.major() >= 11) {
      text += ", by minor-version compatibility from " + std::string(toolkit.min_driver_minor_text);
    }
    AddFact(answer, "", text, toolkit.from);
    const Version umd = candidate.branch == nullptr ? Version{} : candidate.branch->cuda_umd;
    const CudaPath path = PathFor(question, toolkit, candidate.number, candidate.branch_text, umd,
                                  need.forward_allowed, question.input.needs_ptx_jit);
    if (path.way != CudaWay::kForward) continue;
    AddFact(answer, "",
            "cuda-compat for CUDA " + std::string(toolkit.minor) + " may be used over branch " +
                candidate.branch_text,
            path.from);
  }
}

void ExplainFramework(const Question& question, const Verdict& verdict, Answer& answer) {
  if (!verdict.framework || verdict.framework->name != "pytorch") return;
  for (const PyTorch& row : question.knowledge.pytorch) {
    if (row.version != verdict.framework->version) continue;
    AddFact(answer, "",
            "PyTorch " + std::string(row.version) + " has a build for CUDA " +
                verdict.framework->variant,
            row.from);
  }
}

}  // namespace

std::string Sentence(const KnowledgeBase& knowledge, const Reason& reason) {
  const std::string_view kind = Kind(reason.code);
  const auto* meaning = std::ranges::find(kMeanings, kind, &Meaning::code);
  if (meaning == kMeanings.end()) return reason.code;
  std::string argument(Argument(reason.code));
  if (kind == "GPU_NOT_LISTED" || kind == "DRIVER_TOO_OLD_FOR_GPU")
    argument = GpuName(knowledge, argument);
  return std::string(meaning->before) + argument + std::string(meaning->after) + OwnWords(reason);
}

void AddFact(Answer& answer, std::string code, std::string text, const Provenance& from) {
  Fact fact{std::move(code), std::move(text), {}, from.confidence};
  for (size_t i = 0; i < from.sources.size(); ++i) fact.sources.emplace_back(from.sources[i]);
  if (fact.sources.empty()) {
    const auto* own = std::ranges::find(kOwnRules, from.table, &OwnRule::id);
    fact.sources.emplace_back(own != kOwnRules.end()
                                  ? std::string(own->source)
                                  : "no row in the table " + std::string(from.table));
    if (own != kOwnRules.end()) fact.confidence = own->confidence;
  }
  answer.why.push_back(std::move(fact));
}

void ExplainGpus(const Question& question, Answer& answer) {
  for (const Gpu& gpu : question.gpus) {
    const Device& device = *gpu.device;
    std::string text = std::string(device.name) + " (" + std::string(device.pci_id) +
                       "): " + std::string(device.arch);
    text += device.cc_text.empty() ? ", compute capability not known"
                                   : ", compute capability " + std::string(device.cc_text);
    if (!gpu.min_driver_text.empty()) text += ", drivers from " + std::string(gpu.min_driver_text);
    if (!device.last_branch.empty()) text += " up to branch " + std::string(device.last_branch);
    text += gpu.open_kernel == "none"       ? ", proprietary modules only"
            : gpu.open_kernel == "required" ? ", open modules only"
                                            : "";
    AddFact(answer, "", text, device.from);
    if (!gpu.min_driver_reason.empty())
      AddFact(answer, "", std::string(gpu.min_driver_reason), gpu.min_driver_from);
    if (!gpu.open_kernel_reason.empty())
      AddFact(answer, "", std::string(gpu.open_kernel_reason), gpu.open_kernel_from);
  }
}

void ExplainVerdict(const Question& question, const Verdict& verdict, Answer& answer) {
  ExplainReasons(question, verdict.rejections, answer);
  ExplainReasons(question, verdict.warnings, answer);
  ExplainBranch(question, verdict, answer);
  if (verdict.passed()) ExplainKernel(question, verdict, answer);
  ExplainCuda(question, verdict, answer);
  ExplainFramework(question, verdict, answer);
}

void ExplainReasons(const Question& question, const std::vector<Reason>& reasons, Answer& answer) {
  for (const Reason& reason : reasons)
    AddFact(answer, reason.code, Sentence(question.knowledge, reason), reason.from);
}

void Conclude(Answer& answer) {
  std::vector<Fact> facts;
  for (Fact& fact : answer.why) {
    const auto same = [&](const Fact& other) { return other.text == fact.text; };
    if (std::ranges::none_of(facts, same)) facts.push_back(std::move(fact));
  }
  answer.why = std::move(facts);
  for (const Fact& fact : answer.why)
    answer.confidence = std::max(answer.confidence, fact.confidence);
  if (!answer.unknown.empty()) answer.confidence = Confidence::kInferred;
}

}  // namespace pawl::compat
