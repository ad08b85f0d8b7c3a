#include "compat/advice.h"

#include <algorithm>
#include <array>

#include "compat/cuda_rules.h"
#include "compat/delivery_rules.h"
#include "compat/explain.h"
#include "compat/kernel_rules.h"

namespace pawl::compat {

namespace {

void Add(Answer& answer, std::string code, const Provenance& from) {
  if (std::ranges::find(answer.advice, code) != answer.advice.end()) return;
  AddFact(answer, code, AdviceSentence(code), from);
  answer.advice.push_back(std::move(code));
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Boards that sit behind NVSwitches (HGX and DGX A100, H100, H200, B200, B300). A name does not
// tell whether a system has them, so the advice says "where".
bool MayHaveNvSwitch(const Device& device) {
  if (device.cls != "datacenter" || Has(device.name, "PCIe") || Has(device.name, "PCIE") ||
      Has(device.name, "NVL")) {
    return false;
  }
  if (Has(device.name, "GH200") || Has(device.name, "GB200") || Has(device.name, "GB300"))
    return false;
  constexpr std::array<std::string_view, 8> kBoards = {"A100-SXM", "A800-SXM", "H100", "H800",
                                                       "H200",     "H20",      "B200", "B300"};
  return std::ranges::any_of(kBoards,
                             [&](std::string_view board) { return Has(device.name, board); });
}

void AdviseByGpus(const Question& question, Answer& answer) {
  for (const Gpu& gpu : question.gpus) {
    if (MayHaveNvSwitch(*gpu.device))
      Add(answer, "FABRIC_MANAGER", FromRule(question.knowledge, "fabric-manager-mismatch"));
    for (const Override& row : question.knowledge.overrides) {
      if (!row.pci_ids.Contains(gpu.device->pci_id)) continue;
      if (row.rule == "workaround" && Has(row.value, "uvm_disable_hmm"))
        Add(answer, "UVM_DISABLE_HMM", row.from);
      if (row.rule == "kernel_cmdline")
        Add(answer, "KERNEL_CMDLINE:" + std::string(row.value), row.from);
    }
  }
}

// The newest CUDA major whose toolkits still make code for every GPU.
uint32_t LastMajorFor(const Question& question) {
  for (const Toolkit& toolkit : question.knowledge.toolkits) {
    const bool all = std::ranges::all_of(question.gpus, [&](const Gpu& gpu) {
      return RunsOn(toolkit, gpu.device->cc) != Runs::kNot;
    });
    if (all) return toolkit.number.major();
  }
  return 0;
}

void AdviseByCodes(const Question& question, Answer& answer) {
  for (const std::string& code : std::vector<std::string>(answer.conflicts)) {
    if (code.starts_with("NO_COMMON_FLAVOUR") && GpusDisagreeOnFlavour(question)) {
      Add(answer, "SPLIT_NODE", question.gpus.front().open_kernel_from);
    }
    if (code.starts_with("CUDA_DROPS_GPU")) {
      const uint32_t major = LastMajorFor(question);
      if (major > 0)
        Add(answer, "USE_CUDA_" + std::to_string(major), question.gpus.front().device->from);
    }
    if (!code.starts_with("BREAKAGE:")) continue;
    const std::string id = code.substr(9);
    const std::string compiler = CompilerFor(question.knowledge, id);
    for (const Breakage& breakage : question.knowledge.breakages) {
      if (breakage.id == id && !compiler.empty())
        Add(answer, "USE_KERNEL_COMPILER:" + compiler, breakage.from);
    }
  }
}

bool AllDataCenter(const Question& question) {
  return !question.gpus.empty() && std::ranges::all_of(question.gpus, [](const Gpu& gpu) {
    return gpu.device->cls == "datacenter";
  });
}

void AdviseOnCuda(const Question& question, const Verdict& verdict, Answer& answer) {
  if (verdict.cuda_mode != "minor" && verdict.cuda_mode != "forward") return;
  Add(answer, "REQUIRE_CLAUSE", FromRule(question.knowledge, "nvidia_container_require"));
  for (const CudaNeed& need : question.cuda) {
    const Candidate& candidate = verdict.candidate;
    if (candidate.number >= need.toolkit->min_driver_full) continue;
    const ForwardPackage* package =
        CompatPackage(question.knowledge, need.toolkit->minor, candidate.branch_text);
    if (verdict.cuda_mode == "forward") {
      std::string name = package == nullptr ? "cuda-compat-" + std::string(need.toolkit->minor)
                                            : std::string(package->package);
      std::ranges::replace(name, '.', '-');
      Add(answer, "COMPAT_PACKAGE_NEEDED:" + name,
          package == nullptr ? need.toolkit->from : package->from);
    } else if (package != nullptr && AllDataCenter(question)) {
      Add(answer, "COMPAT_PACKAGE_AVAILABLE", package->from);
    }
  }
  if (!question.forward_class) {
    Add(answer, "COMPAT_WRONG_CLASS", FromRule(question.knowledge, "hardware"));
  }
}

// The package that was asked for by name is only a signpost to another.
void AdviseOnPackages(const Question& question, Answer& answer) {
  if (question.input.mode != "host_packages" || question.pinned_branch.empty() ||
      question.input.os_id != "ubuntu")
    return;
  for (const UbuntuPackage& row : question.knowledge.packages) {
    if (row.ubuntu != question.input.os_version || row.transitional_to.empty()) continue;
    if (row.package != "nvidia-driver-" + question.pinned_branch &&
        !row.package.starts_with("nvidia-driver-" + question.pinned_branch + "-")) {
      continue;
    }
    const UbuntuPackage* installed = Installed(question.knowledge, row);
    const std::string_view target = installed == nullptr ? row.transitional_to : installed->package;
    Add(answer, "TRANSITIONAL_PACKAGE:" + std::string(row.package) + "->" + std::string(target),
        row.from);
  }
}

struct Meaning {
  std::string_view code, text;  // %s: the code's argument
};
constexpr std::array<Meaning, 14> kMeanings = {{
    {"REQUIRE_CLAUSE",
     "CUDA images may refuse to start by NVIDIA_REQUIRE_CUDA although the code would run: set "
     "NVIDIA_DISABLE_REQUIRE=true"},
    {"COMPAT_WRONG_CLASS",
     "keep an image's cuda-compat libraries off the library path: this class of GPU may not use "
     "them (error 804)"},
    {"COMPAT_PACKAGE_NEEDED", "the image must hold %s on its library path"},
    {"COMPAT_PACKAGE_AVAILABLE",
     "cuda-compat would give this CUDA all its features on this driver"},
    {"FABRIC_MANAGER",
     "where the boards sit behind NVSwitches, run the fabric manager of exactly the driver's "
     "version (else error 802)"},
    {"UVM_DISABLE_HMM",
     "if CUDA does not start, load the module with: options nvidia_uvm uvm_disable_hmm=1"},
    {"KERNEL_CMDLINE", "boot the kernel with: %s"},
    {"USE_KERNEL_COMPILER", "build with %s, as the kernel was"},
    {"SPLIT_NODE",
     "these GPUs cannot share one node: one needs open modules, another proprietary ones"},
    {"USE_CUDA_12", "use CUDA 12: it still makes code for this GPU"},
    {"USE_CUDA_11", "use CUDA 11: it still makes code for this GPU"},
    {"NEWER_FRAMEWORK", "the first release that runs is %s"},
    {"OTHER_MODE", "it would work delivered as %s"},
    {"TRANSITIONAL_PACKAGE", "what will be installed: %s"},
}};

}  // namespace

std::string AdviceSentence(std::string_view code) {
  const std::string_view kind = code.substr(0, code.find(':'));
  const std::string_view argument =
      kind.size() == code.size() ? std::string_view{} : code.substr(kind.size() + 1);
  const auto* meaning = std::ranges::find(kMeanings, kind, &Meaning::code);
  if (meaning == kMeanings.end()) return std::string(code);
  const size_t at = meaning->text.find("%s");
  if (at == std::string_view::npos) return std::string(meaning->text);
  return std::string(meaning->text.substr(0, at)) + std::string(argument) +
         std::string(meaning->text.substr(at + 2));
}

void Advise(const Question& question, const Verdict* verdict, Answer& answer) {
  AdviseByGpus(question, answer);
  AdviseByCodes(question, answer);
  if (verdict != nullptr && verdict->passed()) AdviseOnCuda(question, *verdict, answer);
  AdviseOnPackages(question, answer);
}

}  // namespace pawl::compat
