#include "compat/evaluate.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "compat/cuda_rules.h"
#include "compat/delivery_rules.h"
#include "compat/framework_rules.h"
#include "compat/kernel_rules.h"

namespace pawl::compat {

namespace {

// What a warning of these kinds means: it may not work.
constexpr std::array<std::string_view, 5> kRisks = {"GPU_NOT_LISTED", "KERNEL_UNKNOWN",
                                                    "KERNEL_BEFORE_FIX", "BREAKAGE", "PTX_ONLY"};

bool HasRisk(const Verdict& verdict) {
  return std::ranges::any_of(verdict.warnings, [](const Reason& reason) {
    const std::string_view kind = std::string_view(reason.code).substr(0, reason.code.find(':'));
    return std::ranges::find(kRisks, kind) != kRisks.end();
  });
}

int PolicyRank(std::string_view policy, std::string_view type) {
  const bool ltsb = type == "LTSB";
  const bool pb = type == "PB";
  if (!ltsb && !pb && type != "NFB") return 0;
  if (policy == "latest") return 3;
  if (policy == "ltsb") return ltsb ? 3 : pb ? 2 : 1;
  if (policy == "pb") return pb ? 3 : ltsb ? 2 : 1;
  return ltsb || pb ? 3 : 1;
}

Candidate FromRow(const KnowledgeBase& knowledge, const DriverVersion& row) {
  Candidate candidate;
  candidate.version = row.version;
  candidate.number = row.number;
  candidate.branch_text = row.branch;
  candidate.branch = knowledge.FindBranch(row.branch);
  candidate.row = &row;
  return candidate;
}

// "nvidia-driver-580-server-open" → "580".
std::string_view PackageBranch(std::string_view package) {
  constexpr std::string_view kPrefix = "nvidia-driver-";
  if (!package.starts_with(kPrefix)) return "";
  package.remove_prefix(kPrefix.size());
  return package.substr(0, package.find('-'));
}

// What the packages of this Ubuntu release install in the end.
std::vector<Candidate> FromPackages(const Question& question) {
  std::vector<Candidate> candidates;
  for (const UbuntuPackage& row : question.knowledge.packages) {
    if (row.ubuntu != question.input.os_version) continue;
    if (!question.pinned_branch.empty() && PackageBranch(row.package) != question.pinned_branch)
      continue;
    const UbuntuPackage* installed = Installed(question.knowledge, row);
    if (installed == nullptr) continue;
    Candidate candidate = CandidateFor(question.knowledge, installed->version);
    candidate.package = installed;
    candidate.open = installed->package.ends_with("-open");
    const auto same = [&](const Candidate& other) { return other.package == installed; };
    if (std::ranges::none_of(candidates, same)) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void Take(Verdict& verdict, Findings findings, int stage) {
  for (Reason& warning : findings.warnings) {
    const auto same = [&](const Reason& reason) { return reason.code == warning.code; };
    if (std::ranges::none_of(verdict.warnings, same))
      verdict.warnings.push_back(std::move(warning));
  }
  if (findings.passed()) return;
  verdict.rejections = std::move(findings.rejections);
  verdict.failed_stage = stage;
}

// Stages 3 to 7 in one flavour.
void JudgeFlavour(const Question& question, Verdict& verdict, Findings kernel) {
  const Candidate& candidate = verdict.candidate;
  if (verdict.open) {
    Findings listed;
    WarnOpenNotListed(question, candidate, listed);
    Take(verdict, std::move(listed), 2);
  }
  Take(verdict, std::move(kernel), 3);
  if (verdict.passed()) Take(verdict, CheckCuda(question, candidate, verdict.cuda_mode), 4);
  if (verdict.passed() && question.framework) {
    FrameworkFindings framework = CheckFramework(question, *question.framework, candidate);
    Take(verdict, std::move(framework.findings), 5);
    verdict.framework = std::move(framework.choice);
  }
  if (verdict.passed()) Take(verdict, CheckDelivery(question, candidate), 6);
  if (verdict.passed()) Take(verdict, CheckLife(question, candidate), 7);
}

}  // namespace

Candidate CandidateFor(const KnowledgeBase& knowledge, std::string_view version) {
  if (const DriverVersion* row = knowledge.FindVersion(version)) return FromRow(knowledge, *row);
  Candidate candidate;
  candidate.version = version;
  candidate.number = VersionOf(version);
  candidate.branch_text = BranchOf(version);
  candidate.branch = knowledge.FindBranch(candidate.branch_text);
  return candidate;
}

std::vector<Candidate> CandidatesFor(const Question& question) {
  const KnowledgeBase& knowledge = question.knowledge;
  if (!question.pinned_version.empty()) return {CandidateFor(knowledge, question.pinned_version)};
  if (question.input.mode == "host_packages" && question.input.os_id == "ubuntu" &&
      !question.input.os_version.empty()) {
    return FromPackages(question);
  }
  std::vector<Candidate> candidates;
  for (const DriverVersion& row : knowledge.versions) {
    if (!question.pinned_branch.empty() && row.branch != question.pinned_branch) continue;
    Candidate candidate = FromRow(knowledge, row);
    if (candidate.branch != nullptr) candidates.push_back(std::move(candidate));
  }
  if (candidates.empty() && !question.pinned_branch.empty()) {
    Candidate candidate = CandidateFor(knowledge, question.pinned_branch);
    candidate.branch = nullptr;  // a branch without a release is never a candidate (§5)
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Verdict Judge(const Question& question, const Candidate& candidate) {
  Verdict verdict;
  verdict.candidate = candidate;
  Take(verdict, CheckGpus(question, candidate), 1);
  if (!verdict.passed()) return verdict;
  Flavours flavours = CheckFlavours(question, candidate);
  Take(verdict, flavours.findings, 2);
  if (!verdict.passed()) return verdict;

  verdict.open = flavours.open.front();
  Findings kernel = CheckKernel(question, candidate, verdict.open);
  if (!kernel.passed() && flavours.open.size() > 1) {
    Findings other = CheckKernel(question, candidate, flavours.open.back());
    if (other.passed()) {
      verdict.open = flavours.open.back();
      verdict.switched = true;
      verdict.switched_for = kernel.rejections.front();
      kernel = std::move(other);
    }
  }
  JudgeFlavour(question, verdict, std::move(kernel));
  return verdict;
}

bool Better(const Question& question, const Verdict& a, const Verdict& b) {
  const auto rank = [&](const Verdict& verdict) {
    const Candidate& candidate = verdict.candidate;
    const bool images = question.input.mode != "host_packages";
    return std::tuple(
        !candidate.branch->EndOfLife(question.input.today), !HasRisk(verdict),
        PolicyRank(question.input.policy, candidate.branch->type), candidate.branch->number,
        images && candidate.row != nullptr && candidate.row->container, candidate.number,
        candidate.package != nullptr &&
            candidate.open == (candidate.branch->default_flavour == "open"));
  };
  return rank(a) > rank(b);
}

}  // namespace pawl::compat
