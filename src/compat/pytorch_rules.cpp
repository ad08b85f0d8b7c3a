#include "compat/pytorch_rules.h"

#include <algorithm>

#include "base/text.h"
#include "compat/cuda_rules.h"

namespace pawl::compat {

namespace {

Version MajorMinor(const Version& version) { return {{version.major(), version.minor(), 0, 0}}; }

const PyTorchArch* ArchRow(const Question& question, const PyTorch& release,
                           std::string_view variant) {
  const Version version = MajorMinor(release.number);
  for (const PyTorchArch& row : question.knowledge.pytorch_arch) {
    if (version >= row.from_version && version <= row.to_version &&
        row.platform == question.input.platform && row.cuda.Contains(variant)) {
      return &row;
    }
  }
  return nullptr;
}

bool HasSassFor(const PyTorchArch& row, const Version& cc) {
  return std::ranges::any_of(row.sass, [&](const Version& built) {
    return built.major() == cc.major() && built.minor() <= cc.minor();
  });
}

// Machine code that runs, else PTX that this driver can compile.
void CheckCode(const Question& question, const PyTorchArch& row, bool driver_reads_ptx,
               Findings& findings) {
  for (const Gpu& gpu : question.gpus) {
    const Version& cc = gpu.device->cc;
    if (cc == Version{} || HasSassFor(row, cc)) continue;
    if (driver_reads_ptx && row.ptx != Version{} && row.ptx <= cc) {
      findings.Warn("PTX_ONLY:" + std::string(gpu.device->cc_text), row.from, row.note);
    } else {
      findings.Reject("NO_KERNEL_IMAGE:" + std::string(gpu.device->cc_text), row.from, row.note);
    }
  }
}

// How far a variant gets: CUDA first, then code for the GPUs.
struct VariantFindings {
  Findings findings;
  bool cuda_passed = false;
};

VariantFindings CheckVariant(const Question& question, const PyTorch& release,
                             std::string_view variant, const Candidate& candidate) {
  VariantFindings found;
  const Toolkit* toolkit = question.knowledge.FindToolkit(variant);
  if (toolkit == nullptr) {
    found.findings.Warn("CUDA_UNKNOWN", FromRule(question.knowledge, "toolkits"));
    return found;
  }
  for (const Gpu& gpu : question.gpus) {
    if (RunsOn(*toolkit, gpu.device->cc) == Runs::kNot) {
      found.findings.Reject("CUDA_DROPS_GPU:" + std::string(gpu.device->cc_text), toolkit->from);
    }
  }
  // Wheels carry no cuda-compat.
  const CudaPath path =
      PathFor(question, *toolkit, candidate.number, candidate.branch_text, {}, false, false);
  if (found.findings.passed() && path.way == CudaWay::kNone)
    found.findings.Reject("CUDA_TOO_NEW", toolkit->from);
  if (!found.findings.passed()) return found;
  found.cuda_passed = true;

  const PyTorchArch* row = ArchRow(question, release, variant);
  if (row == nullptr || !release.variants.Contains(variant)) {
    found.findings.Warn("FRAMEWORK_UNKNOWN", FromRule(question.knowledge, "pytorch_arch"));
    if (row == nullptr) return found;
  }
  CheckCode(question, *row, path.way == CudaWay::kNative, found.findings);
  return found;
}

// The default variant first, then from the newest.
std::vector<std::string_view> InOrder(const PyTorch& release, const FrameworkWish& wish) {
  if (!wish.cuda_variant.empty()) return {wish.cuda_variant};
  std::vector<std::string_view> variants;
  for (size_t i = 0; i < release.variants.size(); ++i) variants.push_back(release.variants[i]);
  std::ranges::sort(variants, std::ranges::greater{},
                    [](std::string_view text) { return VersionOf(text); });
  std::stable_partition(variants.begin(), variants.end(),
                        [&](std::string_view text) { return text == release.default_cuda; });
  return variants;
}

std::string Install(const PyTorch& release, std::string_view variant) {
  return "pip3 install torch==" + std::string(release.version) +
         " --index-url https://download.pytorch.org/whl/cu" + ReplaceAll(variant, ".", "");
}

FrameworkFindings CheckRelease(const Question& question, const PyTorch& release,
                               const FrameworkWish& wish, const Candidate& candidate) {
  FrameworkFindings result;
  VariantFindings furthest;
  FrameworkChoice choice{"pytorch", std::string(release.version), "", {}, ""};
  std::vector<Reason> chosen_warnings;
  for (const std::string_view variant : InOrder(release, wish)) {
    VariantFindings found = CheckVariant(question, release, variant, candidate);
    if (found.findings.passed()) {
      if (choice.variants.empty()) {
        chosen_warnings = std::move(found.findings.warnings);
        choice.variant = variant;
        choice.install = Install(release, variant);
      }
      choice.variants.emplace_back(variant);
    } else if (furthest.findings.passed() || (found.cuda_passed && !furthest.cuda_passed)) {
      furthest = std::move(found);
    }
  }
  if (choice.variants.empty()) {
    result.findings = std::move(furthest.findings);
    result.findings.warnings.clear();
    return result;
  }
  std::ranges::sort(choice.variants, {}, [](const std::string& text) { return VersionOf(text); });
  result.findings.warnings = std::move(chosen_warnings);
  result.choice = std::move(choice);
  return result;
}

// Newest first.
std::vector<const PyTorch*> Releases(const KnowledgeBase& knowledge, const FrameworkWish& wish) {
  std::vector<const PyTorch*> releases;
  for (const PyTorch& row : knowledge.pytorch) {
    if (wish.version.empty() ? row.from.confidence == Confidence::kDocumented
                             : Covers(wish.version, row.version)) {
      releases.push_back(&row);
    }
  }
  return releases;
}

}  // namespace

FrameworkFindings CheckPyTorch(const Question& question, const FrameworkWish& wish,
                               const Candidate& candidate) {
  const std::vector<const PyTorch*> releases = Releases(question.knowledge, wish);
  FrameworkFindings first;
  if (releases.empty()) {
    first.findings.Warn("FRAMEWORK_UNKNOWN", FromRule(question.knowledge, "pytorch"));
    return first;
  }
  for (const PyTorch* release : releases) {
    FrameworkFindings found = CheckRelease(question, *release, wish, candidate);
    if (found.findings.passed()) return found;
    if (release == releases.front()) first = std::move(found);
  }
  return first;
}

std::vector<std::string> PassingVariants(const Question& question, const FrameworkWish& wish,
                                         const Candidate& candidate) {
  if (wish.name != "pytorch" || wish.version.empty()) return {};
  FrameworkWish any = wish;
  any.cuda_variant.clear();
  FrameworkFindings found = CheckPyTorch(question, any, candidate);
  return found.choice ? found.choice->variants : std::vector<std::string>{};
}

}  // namespace pawl::compat
