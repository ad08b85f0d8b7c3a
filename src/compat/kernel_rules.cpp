#include "compat/kernel_rules.h"

#include <algorithm>

#include "base/text.h"

namespace pawl::compat {

namespace {

// The distribution's kernels of 22.04 and what they were built with.
constexpr std::string_view kHweCompiler = "ubuntu-2204-hwe-gcc12";
constexpr std::string_view kMigMixed = "mig-mixed-570";

bool ForFlavour(std::string_view modules, bool open) {
  return modules == "both" || modules == FlavourName(open);
}

void CheckStep(const AbiStep& step, const Candidate& candidate, bool open, Findings& findings) {
  const std::string kernel(step.kernel_text);
  if (const AbiStep::FirstOk* first = step.For(candidate.branch_text, open)) {
    if (first->fix == AbiStep::Fix::kUnknown) {
      findings.Warn("KERNEL_UNKNOWN:" + kernel, step.from, step.interface);
    } else if (first->fix == AbiStep::Fix::kNever || candidate.number < first->version) {
      findings.Reject("KERNEL_ABI:" + kernel, step.from, step.interface);
    }
    return;
  }
  if (step.never_by_date.Contains(candidate.branch_text)) {
    Provenance inferred = step.from;
    inferred.confidence = Confidence::kInferred;
    findings.Reject("KERNEL_ABI:" + kernel, inferred, step.interface);
  } else if (candidate.row != nullptr && !candidate.row->date.empty() &&
             candidate.row->date < step.earliest_fix) {
    findings.Warn("KERNEL_BEFORE_FIX:" + kernel, step.from, step.interface);
  }
}

bool IsSet(const std::map<std::string, std::string>& config, const std::string& option) {
  const auto found = config.find(option);
  return found != config.end() && (found->second == "y" || found->second == "m");
}

// The three that the rules name; the config column is words for people.
bool ConfigMatches(std::string_view id, const std::map<std::string, std::string>& config) {
  if (id == "preempt-rt") return IsSet(config, "CONFIG_PREEMPT_RT");
  if (id == "open-needs-mmu-notifier") return !IsSet(config, "CONFIG_MMU_NOTIFIER");
  if (id == "drm-ttm-helper-6.11") {
    return IsSet(config, "CONFIG_DRM_FBDEV_EMULATION") && !IsSet(config, "CONFIG_DRM_TTM_HELPER");
  }
  return false;
}

// Is `release` of the row this machine's: by os-release, or by what an enterprise kernel says.
bool ReleaseMatches(const Question& question, std::string_view release) {
  if (question.input.os_version == release) return true;
  return question.kernel && question.kernel->el_release == release;
}

bool CompilerMatches(const Question& question, const Breakage::Where& where) {
  return question.compiler && question.compiler->name == where.compiler &&
         question.compiler->major >= where.compiler_ge;
}

bool KernelKeysMatch(const Question& question, const Breakage::Where& where) {
  const bool needs_kernel = !where.series.empty() || where.has_from || where.abi_from != 0 ||
                            !where.flavours.empty() || !where.release_string.empty();
  if (!needs_kernel) return true;
  if (!question.kernel) return false;
  const Kernel& kernel = *question.kernel;
  if (!where.series.empty() && !Covers(where.series, kernel.stable)) return false;
  if (where.has_from && kernel.version < where.from) return false;
  if (where.abi_from != 0 && (!kernel.abi || *kernel.abi < where.abi_from)) return false;
  if (!where.flavours.empty() && !where.flavours.Contains(kernel.flavour)) return false;
  return where.release_string.empty() || kernel.release.starts_with(where.release_string);
}

bool WhereMatches(const Question& question, const Breakage& breakage,
                  const Breakage::Where& where) {
  if (where.any) return false;  // for diagnosing logs; other stages decide these
  if (!where.config.empty() && (!question.input.kernel_config ||
                                !ConfigMatches(breakage.id, *question.input.kernel_config))) {
    return false;
  }
  if (!where.distro.empty() && !IsDistribution(where.distro, question.input.os_id)) return false;
  if (!where.release.empty() && !ReleaseMatches(question, where.release)) return false;
  if (!where.compiler.empty() && !CompilerMatches(question, where)) return false;
  // A kernel full of backports is judged by rows about that distribution only (§3.4).
  const bool upstream = where.distro.empty() && where.config.empty();
  if (upstream && question.kernel && question.kernel->enterprise) return false;
  const bool says_something = !where.distro.empty() || !where.series.empty() || where.has_from ||
                              !where.compiler.empty() || !where.config.empty() ||
                              !where.release_string.empty();
  return says_something && KernelKeysMatch(question, where);
}

bool Affects(const Breakage& breakage, const Candidate& candidate, bool distribution_patches) {
  return std::ranges::any_of(breakage.affected, [&](const Breakage::Affected& row) {
    if (row.branch != "any" && row.branch != candidate.branch_text) return false;
    if (row.vendor_build_only && distribution_patches) return false;
    if (row.lt != Version{} && candidate.number >= row.lt) return false;
    if (row.le != Version{} && candidate.number > row.le) return false;
    if (row.ge != Version{} && candidate.number < row.ge) return false;
    return row.in.empty() || row.in.Contains(candidate.version);
  });
}

void CheckBreakage(const Question& question, const Breakage& breakage, const Candidate& candidate,
                   bool open, Findings& findings) {
  if (breakage.id == kMigMixed || !ForFlavour(breakage.modules, open)) return;
  if (!Affects(breakage, candidate, question.input.mode == "host_packages")) return;
  if (breakage.id == kHweCompiler && (!question.compiler || (question.compiler->name == "gcc" &&
                                                             question.compiler->major == 12))) {
    return;
  }
  bool matches = false;
  bool risk = true;
  for (const Breakage::Where& where : breakage.kernels) {
    if (!WhereMatches(question, breakage, where)) continue;
    matches = true;
    risk = risk && where.risk;
  }
  if (!matches) return;
  const std::string code = "BREAKAGE:" + std::string(breakage.id);
  if (risk) {
    findings.Warn(code, breakage.from, breakage.title);
  } else {
    findings.Reject(code, breakage.from, breakage.title);
  }
}

const BuildRecord* RecordFor(const Question& question, const Candidate& candidate, bool open) {
  for (const BuildRecord& record : question.input.build_records) {
    if (record.kernel == question.input.kernel && record.flavour == FlavourName(open) &&
        VersionOf(record.version) == candidate.number) {
      return &record;
    }
  }
  return nullptr;
}

// Stronger evidence that it builds: what was found against it becomes one warning.
void Overrule(Findings& findings, const Provenance& by) {
  std::vector<std::string> codes;
  for (const Reason& reason : findings.rejections) codes.push_back(reason.code);
  for (const Reason& reason : findings.warnings) codes.push_back(reason.code);
  findings = {};
  if (!codes.empty()) findings.Warn("PREBUILT_OVERRIDES:" + Join(codes, ","), by);
}

// What rows say about building on this kernel, before stronger evidence is asked.
Findings ByRows(const Question& question, const Candidate& candidate, bool open) {
  Findings findings;
  if (question.kernel && !question.kernel->enterprise) {
    for (const AbiStep& step : question.knowledge.abi_steps) {
      if (step.kernel_from <= question.kernel->version && ForFlavour(step.modules, open)) {
        CheckStep(step, candidate, open, findings);
      }
    }
  }
  for (const Breakage& breakage : question.knowledge.breakages) {
    CheckBreakage(question, breakage, candidate, open, findings);
  }
  return findings;
}

void CheckMig(const Question& question, const Candidate& candidate, Findings& findings) {
  if (question.input.mig != "mixed_with_full_gpus") return;
  for (const Breakage& breakage : question.knowledge.breakages) {
    if (breakage.id == kMigMixed && Affects(breakage, candidate, false)) {
      findings.Reject("BREAKAGE:" + std::string(kMigMixed), breakage.from, breakage.title);
    }
  }
}

// Nobody signs what a node builds for itself.
void CheckSecureBoot(const Question& question, const UbuntuModules* prebuilt, Findings& findings) {
  if (!question.input.secure_boot || question.input.mode == "precompiled") return;
  if (question.input.mode == "host_packages" && (prebuilt != nullptr || !question.kernel)) return;
  findings.Reject("SECURE_BOOT_UNSIGNED", FromRule(question.knowledge, "secure_boot"));
}

}  // namespace

std::string_view FlavourName(bool open) { return open ? "open" : "proprietary"; }

const UbuntuModules* PrebuiltFor(const Question& question, std::string_view branch, bool open) {
  if (!question.kernel || !question.kernel->ubuntu || !question.kernel->abi) return nullptr;
  for (const UbuntuModules& row : question.knowledge.ubuntu_modules) {
    if (row.kernel != question.kernel->stable || row.flavour != question.kernel->flavour) continue;
    if (*question.kernel->abi < row.abi_min || *question.kernel->abi > row.abi_max) continue;
    if (!question.input.os_version.empty() && row.ubuntu != question.input.os_version) continue;
    if (row.branch.substr(0, row.branch.find('-')) == branch &&
        row.branch.ends_with("-open") == open)
      return &row;
  }
  return nullptr;
}

Findings CheckKernel(const Question& question, const Candidate& candidate, bool open) {
  Findings findings = ByRows(question, candidate, open);
  const UbuntuModules* prebuilt = question.input.mode == "host_packages"
                                      ? PrebuiltFor(question, candidate.branch_text, open)
                                      : nullptr;
  const BuildRecord* record = RecordFor(question, candidate, open);
  if (record != nullptr && record->built) {
    Overrule(findings, FromRule(question.knowledge, "build_records"));
  } else if (record != nullptr) {
    findings.Reject("BUILD_FAILED_HERE", FromRule(question.knowledge, "build_records"));
  } else if (prebuilt != nullptr) {
    Overrule(findings, prebuilt->from);
  }
  CheckMig(question, candidate, findings);
  CheckSecureBoot(question, prebuilt, findings);
  if (question.kernel && question.kernel->enterprise) {
    findings.Warn("KERNEL_BACKPORTS", FromRule(question.knowledge, "enterprise_kernels"));
  }
  return findings;
}

std::string CompilerFor(const KnowledgeBase& knowledge, std::string_view breakage_id) {
  if (breakage_id == kHweCompiler) return "gcc-12";
  for (const Breakage& breakage : knowledge.breakages) {
    if (breakage.id != breakage_id) continue;
    for (const Breakage::Where& where : breakage.kernels) {
      if (where.compiler_ge > 0)
        return std::string(where.compiler) + "-" + std::to_string(where.compiler_ge - 1);
    }
  }
  return "";
}

}  // namespace pawl::compat
