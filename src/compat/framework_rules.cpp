#include "compat/framework_rules.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "compat/cuda_rules.h"
#include "compat/pytorch_rules.h"

namespace pawl::compat {

namespace {

constexpr std::array<std::string_view, 6> kFrameworks = {"pytorch",     "tensorflow", "jax",
                                                         "onnxruntime", "vllm",       "ollama"};

// "12.x" and "9" name a major: its first toolkit is the floor.
std::string ToolkitName(std::string_view cuda) {
  if (cuda.ends_with(".x")) cuda.remove_suffix(2);
  return cuda.find('.') == std::string_view::npos ? std::string(cuda) + ".0" : std::string(cuda);
}

std::vector<std::string> CudaOptions(const Framework& row, const FrameworkWish& wish) {
  if (!wish.cuda_variant.empty()) return {wish.cuda_variant};
  std::vector<std::string> options;
  for (size_t i = row.cuda_variants.size(); i > 0; --i)
    options.push_back(ToolkitName(row.cuda_variants[i - 1]));
  for (const std::string_view one : {row.cuda, row.built_cuda, row.cuda_min}) {
    if (options.empty() && !one.empty()) options.push_back(ToolkitName(one));
  }
  return options;
}

// The newest release that a row speaks of.
std::string_view Newest(const Framework& row) {
  std::string_view newest = row.to_version.empty() ? row.from_version : row.to_version;
  for (size_t i = 0; i < row.versions.size(); ++i) {
    if (newest.empty() || VersionOf(row.versions[i]) >= VersionOf(newest)) newest = row.versions[i];
  }
  return newest;
}

bool IsRelease(std::string_view version) { return ParseVersion(version).has_value(); }

bool SpeaksOf(const Framework& row, std::string_view version) {
  for (size_t i = 0; i < row.versions.size(); ++i) {
    if (Covers(row.versions[i], version) || Covers(version, row.versions[i])) return true;
  }
  const auto number = ParseVersion(version);
  if (row.from_version.empty() || !number || *number < VersionOf(row.from_version)) return false;
  return row.to_version.empty() || *number <= VersionOf(row.to_version) ||
         Covers(row.to_version, version);
}

// The rows of a framework that answer the wish; all releases, newest first, where it names none.
std::vector<const Framework*> RowsFor(const KnowledgeBase& knowledge, const FrameworkWish& wish) {
  std::vector<const Framework*> rows;
  for (const Framework& row : knowledge.frameworks) {
    if (row.framework != wish.name) continue;
    if (wish.version.empty() ? IsRelease(Newest(row)) : SpeaksOf(row, wish.version))
      rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Framework* row) { return VersionOf(Newest(*row)); });
  return rows;
}

// One CUDA build of one release.
Findings CheckBuild(const Question& question, const Framework& row, const Toolkit& toolkit,
                    const Candidate& candidate) {
  Findings findings;
  for (const Gpu& gpu : question.gpus) {
    const std::string cc(gpu.device->cc_text);
    if (cc.empty()) continue;
    if (RunsOn(toolkit, gpu.device->cc) == Runs::kNot)
      findings.Reject("CUDA_DROPS_GPU:" + cc, toolkit.from);
    const Version least = VersionOf(row.min_cuda_for_arch.Find(gpu.device->arch));
    if (gpu.device->cc < row.min_cc || toolkit.minor_number < least)
      findings.Reject("NO_KERNEL_IMAGE:" + cc, row.from);
  }
  if (!findings.passed()) return findings;
  const Version umd = candidate.branch == nullptr ? Version{} : candidate.branch->cuda_umd;
  const CudaPath path = PathFor(question, toolkit, candidate.number, candidate.branch_text, umd,
                                question.input.forward_compat, question.input.needs_ptx_jit);
  if (path.way == CudaWay::kNone) findings.Reject("CUDA_TOO_NEW", toolkit.from);
  return findings;
}

// A floor gives way only to cuda-compat of its own CUDA.
bool Waived(const Question& question, const DriverFloor& floor, const Candidate& candidate) {
  if (floor.cuda_min.empty() || !question.input.forward_compat) return false;
  const Toolkit* toolkit = question.knowledge.FindToolkit(floor.cuda_min);
  if (toolkit == nullptr) return false;
  return PathFor(question, *toolkit, candidate.number, candidate.branch_text, {}, true, false)
             .way == CudaWay::kForward;
}

Findings CheckFloor(const Question& question, const DriverFloor& floor,
                    const Candidate& candidate) {
  Findings findings;
  Version least = floor.min_driver;
  std::string_view least_text = floor.min_driver_text;
  for (const Gpu& gpu : question.gpus) {
    if (gpu.device->cc == Version{}) continue;
    if (gpu.device->cc < floor.min_cc) {
      findings.Reject("NO_KERNEL_IMAGE:" + std::string(gpu.device->cc_text), floor.from);
    }
    for (const DriverFloor::ByCc& row : floor.by_cc) {
      if (gpu.device->cc < row.cc_from || gpu.device->cc > row.cc_to || row.min_driver < least)
        continue;
      least = row.min_driver;
      least_text = row.min_driver_text;
    }
  }
  if (candidate.number < least && !Waived(question, floor, candidate)) {
    findings.Reject("FRAMEWORK_DRIVER_FLOOR", floor.from, least_text);
  }
  return findings;
}

bool Concerns(const DriverFloor& floor, const FrameworkWish& wish, std::string_view cuda) {
  if (floor.framework != wish.name) return false;
  if (!wish.variant.empty() && floor.variant != wish.variant) return false;
  if (!floor.version.empty() && !Covers(floor.version, wish.version)) return false;
  if (!floor.cuda.empty() && !floor.cuda.Contains(wish.cuda_variant)) return false;
  // "current pip packages": releases built with an older CUDA major are not.
  return floor.scope.empty() || cuda.empty() || VersionOf(cuda).major() >= 12;
}

// JAX has a floor for each of its variants: any one that passes will do.
FrameworkFindings CheckFloors(const Question& question, const FrameworkWish& wish,
                              std::string_view cuda, const Candidate& candidate) {
  FrameworkFindings first;
  bool any = false;
  for (const DriverFloor& floor : question.knowledge.driver_floors) {
    if (!Concerns(floor, wish, cuda)) continue;
    FrameworkFindings found{CheckFloor(question, floor, candidate), std::nullopt};
    if (found.findings.passed()) {
      found.choice = FrameworkChoice{wish.name, "", std::string(floor.variant), {}, ""};
      return found;
    }
    if (!any) first = std::move(found);
    any = true;
  }
  return first;
}

// What pip gets is the build for one CUDA; where the data knows another one that runs, it cannot
// tell from where to have it.
std::string Install(const FrameworkChoice& choice) {
  const bool exact = Split(choice.version, '.').size() >= 3;
  const std::string pin = choice.version.empty() ? "" : "==" + choice.version + (exact ? "" : ".*");
  if (choice.name == "tensorflow") {
    const bool brings_cuda =
        choice.version.empty() || VersionOf(choice.version) >= VersionOf("2.14");
    return std::string("pip3 install 'tensorflow") + (brings_cuda ? "[and-cuda]" : "") + pin + "'";
  }
  if (choice.name == "jax") {
    return "pip3 install 'jax[" + (choice.variant.starts_with("cuda") ? choice.variant : "cuda12") +
           "]" + pin + "'";
  }
  if (choice.name == "onnxruntime") return "pip3 install 'onnxruntime-gpu" + pin + "'";
  if (choice.name == "vllm") return "pip3 install 'vllm" + pin + "'";
  if (choice.name == "ollama") return "curl -fsSL https://ollama.com/install.sh | sh";
  return "";
}

// One row: the newest of its builds that runs, held to the floors too.
FrameworkFindings CheckRow(const Question& question, const Framework& row,
                           const FrameworkWish& wish, const Candidate& candidate) {
  FrameworkFindings failed;
  FrameworkChoice choice{
      wish.name, wish.version.empty() ? std::string(Newest(row)) : wish.version, "", {}, ""};
  for (const std::string& option : CudaOptions(row, wish)) {
    const Toolkit* toolkit = question.knowledge.FindToolkit(option);
    if (toolkit == nullptr) continue;
    Findings build = CheckBuild(question, row, *toolkit, candidate);
    if (build.passed()) choice.variants.push_back(option);
    if (failed.findings.passed()) failed.findings = std::move(build);
  }
  const bool no_cuda_known = CudaOptions(row, wish).empty();
  if (choice.variants.empty() && !no_cuda_known && !failed.findings.passed()) return failed;
  if (!choice.variants.empty()) choice.variant = choice.variants.front();
  FrameworkFindings floors = CheckFloors(question, wish, choice.variant, candidate);
  if (!floors.findings.passed()) return floors;
  if (floors.choice && !floors.choice->variant.empty()) choice.variant = floors.choice->variant;
  const bool by_default = row.cuda.empty() || choice.variants.empty() ||
                          choice.variants.front() == ToolkitName(row.cuda);
  if (by_default) choice.install = Install(choice);
  return {{}, std::move(choice)};
}

FrameworkFindings Unknown(const Question& question, const FrameworkWish& wish,
                          const Candidate& candidate) {
  FrameworkFindings found = CheckFloors(question, wish, wish.cuda_variant, candidate);
  if (!found.findings.passed()) return found;
  if (!found.choice || !wish.version.empty())
    found.findings.Warn("FRAMEWORK_UNKNOWN", FromRule(question.knowledge, "frameworks"));
  if (found.choice) {
    found.choice->version = wish.version;
    found.choice->install = Install(*found.choice);
  }
  return found;
}

}  // namespace

FrameworkFindings CheckFramework(const Question& question, const FrameworkWish& wish,
                                 const Candidate& candidate) {
  if (wish.name == "pytorch") return CheckPyTorch(question, wish, candidate);
  const std::vector<const Framework*> rows = RowsFor(question.knowledge, wish);
  FrameworkFindings first;
  for (const Framework* row : rows) {
    FrameworkFindings found = CheckRow(question, *row, wish, candidate);
    if (found.findings.passed()) return found;
    if (row == rows.front()) first = std::move(found);
  }
  return rows.empty() ? Unknown(question, wish, candidate) : first;
}

std::vector<std::string> NewerReleases(const KnowledgeBase& knowledge, const FrameworkWish& wish) {
  std::vector<std::string> releases;
  const auto wished = ParseVersion(wish.version);
  if (!wished) return releases;
  const auto add = [&](std::string_view version) {
    const auto number = ParseVersion(version);
    if (number && *number > *wished && !Covers(wish.version, version))
      releases.emplace_back(version);
  };
  if (wish.name == "pytorch") {
    for (const PyTorch& row : knowledge.pytorch) add(row.version);
  }
  for (const Framework& row : knowledge.frameworks) {
    if (row.framework != wish.name) continue;
    for (size_t i = 0; i < row.versions.size(); ++i) add(row.versions[i]);
    if (!row.from_version.empty()) add(row.from_version);
  }
  std::ranges::sort(releases, {}, [](const std::string& version) { return VersionOf(version); });
  return releases;
}

std::vector<FrameworkChoice> AllThatRun(const Question& question, const Candidate& candidate) {
  std::vector<FrameworkChoice> choices;
  for (const std::string_view name : kFrameworks) {
    FrameworkFindings found = CheckFramework(question, {std::string(name), "", "", ""}, candidate);
    const bool unknown = std::ranges::any_of(found.findings.warnings, [](const Reason& reason) {
      return reason.code.starts_with("FRAMEWORK_UNKNOWN");
    });
    if (found.findings.passed() && found.choice && !unknown)
      choices.push_back(*std::move(found.choice));
  }
  return choices;
}

}  // namespace pawl::compat
