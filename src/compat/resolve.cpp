#include "compat/resolve.h"

#include <algorithm>
#include <set>

#include "compat/advice.h"
#include "compat/cuda_rules.h"
#include "compat/delivery_rules.h"
#include "compat/evaluate.h"
#include "compat/explain.h"
#include "compat/framework_rules.h"
#include "compat/kernel_rules.h"
#include "compat/pytorch_rules.h"

namespace pawl::compat {

namespace {

enum class Help { kYes, kNo };  // kNo for the answers within an answer

Answer Answered(const KnowledgeBase& knowledge, const Input& input, Help help);

std::vector<Verdict> JudgeAll(const Question& question) {
  std::vector<Verdict> verdicts;
  for (const Candidate& candidate : CandidatesFor(question))
    verdicts.push_back(Judge(question, candidate));
  return verdicts;
}

// Stage 0: GPUs that no driver of ours is for.
std::vector<Reason> Unsupported(const Question& question) {
  std::vector<Reason> reasons;
  for (const Gpu& gpu : question.gpus) {
    const std::string_view cls = gpu.device->cls;
    const Provenance from = gpu.cls == nullptr ? gpu.device->from : gpu.cls->from;
    const std::string_view note = gpu.cls == nullptr ? std::string_view{} : gpu.cls->note;
    if (cls == "jetson" || cls == "drive") reasons.push_back({"CLASS_UNSUPPORTED", note, from});
    if (cls == "vgpu") reasons.push_back({"VGPU_GUEST_DRIVER", note, from});
  }
  return reasons;
}

void AddCode(std::vector<std::string>& codes, const std::string& code) {
  if (std::ranges::find(codes, code) == codes.end()) codes.push_back(code);
}

void AddCodes(std::vector<std::string>& codes, const std::vector<Reason>& reasons) {
  for (const Reason& reason : reasons) AddCode(codes, reason.code);
}

// The candidate that got furthest; of several, the highest version (§5).
const Verdict* Furthest(const std::vector<Verdict>& verdicts) {
  const Verdict* furthest = nullptr;
  for (const Verdict& verdict : verdicts) {
    if (verdict.passed()) continue;
    if (furthest == nullptr || std::pair(verdict.failed_stage, verdict.candidate.number) >
                                   std::pair(furthest->failed_stage, furthest->candidate.number)) {
      furthest = &verdict;
    }
  }
  return furthest;
}

// Whether the branch's type is what the policy names; a pin is a choice of its own.
bool PolicyMet(const Question& question, const Branch& branch) {
  if (!question.pinned_version.empty() || !question.pinned_branch.empty()) return true;
  const std::string& policy = question.input.policy;
  if (policy == "ltsb") return branch.type == "LTSB";
  if (policy == "pb") return branch.type == "PB";
  if (policy == "production") return branch.type == "LTSB" || branch.type == "PB";
  return branch.type == "LTSB" || branch.type == "PB" || branch.type == "NFB";
}

void Recommend(const Question& question, const std::vector<const Verdict*>& passing,
               Answer& answer) {
  const Verdict& winner = *passing.front();
  const Candidate& candidate = winner.candidate;
  answer.status = AnswerStatus::kOk;
  answer.recommended =
      Recommended{candidate.version,
                  candidate.branch_text,
                  std::string(FlavourName(winner.open)),
                  winner.cuda_mode,
                  ImageTag(question, candidate),
                  candidate.package == nullptr ? "" : std::string(candidate.package->package)};
  AddCodes(answer.warnings, winner.warnings);
  std::vector<Reason> more;
  if (winner.switched) {
    more.push_back(
        {"FLAVOUR_SWITCHED:" + answer.recommended->flavour, {}, winner.switched_for.from});
    more.push_back(winner.switched_for);
    AddCode(answer.warnings, more.front().code);
  }
  if (!PolicyMet(question, *candidate.branch)) {
    more.push_back({"POLICY_NOT_MET", {}, candidate.branch->from});
    AddCode(answer.warnings, "POLICY_NOT_MET");
  }
  ExplainReasons(question, more, answer);
  answer.framework = winner.framework;
  answer.cuda_max = MaxCuda(question, candidate);
  answer.frameworks = AllThatRun(question, candidate);

  const Verdict* lowest = &winner;
  for (const Verdict* verdict : passing) {
    if (verdict->candidate.branch == candidate.branch &&
        verdict->candidate.number < lowest->candidate.number)
      lowest = verdict;
  }
  answer.lowest = lowest->candidate.version;
}

void ListAllowed(const Question& question, const std::vector<const Verdict*>& passing,
                 Answer& answer) {
  std::vector<const Branch*> branches;
  branches.reserve(passing.size());
  for (const Verdict* verdict : passing) branches.push_back(verdict->candidate.branch);
  std::ranges::sort(branches, {}, &Branch::number);
  branches.erase(std::unique(branches.begin(), branches.end()), branches.end());
  for (const Branch* branch : branches) {
    answer.allowed.push_back(
        {std::string(branch->branch), branch->EndOfLife(question.input.today)});
  }
}

void ListAll(const std::vector<const Verdict*>& passing, const std::vector<Verdict>& verdicts,
             Answer& answer) {
  for (const Verdict* verdict : passing) {
    CandidateLine line{verdict->candidate.version,
                       verdict->candidate.branch_text,
                       std::string(FlavourName(verdict->open)),
                       verdict->cuda_mode,
                       {}};
    AddCodes(line.warnings, verdict->warnings);
    answer.candidates.push_back(std::move(line));
  }
  for (auto verdict = verdicts.rbegin(); verdict != verdicts.rend(); ++verdict) {
    if (verdict->passed()) continue;
    RejectedLine line{verdict->candidate.version, verdict->candidate.branch_text, {}};
    AddCodes(line.codes, verdict->rejections);
    answer.rejected.push_back(std::move(line));
  }
}

// First passing version of each other branch, and the next one of the pinned branch.
void FindNeighbours(const KnowledgeBase& knowledge, const Input& input, Answer& answer) {
  Input unpinned = input;
  unpinned.driver.clear();
  const Question question(knowledge, unpinned);
  const Version pin = VersionOf(input.driver);
  const std::string_view branch = BranchOf(input.driver);
  for (const Verdict& verdict : JudgeAll(question)) {  // by version, from the lowest
    if (!verdict.passed()) continue;
    const Candidate& candidate = verdict.candidate;
    if (candidate.branch_text != branch) {
      const auto [place, fresh] =
          answer.fix_branches.try_emplace(candidate.branch_text, candidate.version);
      if (!fresh && VersionOf(place->second) > candidate.number) place->second = candidate.version;
    } else if (candidate.number > pin && input.driver.find('.') != std::string::npos &&
               (answer.same_branch_next.empty() ||
                candidate.number < VersionOf(answer.same_branch_next))) {
      answer.same_branch_next = candidate.version;
    }
  }
}

// The answer without the pin; and if that fails, also without the wish for a flavour.
std::shared_ptr<const Answer> Suggest(const KnowledgeBase& knowledge, const Input& input) {
  Input relaxed = input;
  relaxed.driver.clear();
  Answer answer;
  bool asked = false;
  if (!input.driver.empty()) {
    answer = Answered(knowledge, relaxed, Help::kNo);
    asked = true;
  }
  if ((!asked || answer.status != AnswerStatus::kOk) && input.module_flavour != "auto") {
    relaxed.module_flavour = "auto";
    Answer without_flavour = Answered(knowledge, relaxed, Help::kNo);
    if (!asked || without_flavour.status == AnswerStatus::kOk) answer = std::move(without_flavour);
    asked = true;
  }
  return asked ? std::make_shared<const Answer>(std::move(answer)) : nullptr;
}

// The candidates that failed for the framework only, one a branch, the newest first.
std::vector<const Candidate*> StoppedByFramework(const std::vector<Verdict>& verdicts) {
  std::vector<const Candidate*> stopped;
  for (auto verdict = verdicts.rbegin(); verdict != verdicts.rend(); ++verdict) {
    if (verdict->failed_stage != 5) continue;
    const auto same = [&](const Candidate* other) {
      return other->branch == verdict->candidate.branch;
    };
    if (std::ranges::none_of(stopped, same)) stopped.push_back(&verdict->candidate);
  }
  return stopped;
}

void HelpWithFramework(const Question& question, const std::vector<Verdict>& verdicts,
                       Answer& answer) {
  const std::vector<const Candidate*> stopped = StoppedByFramework(verdicts);
  if (!question.framework || stopped.empty()) return;
  std::set<std::string> variants;
  for (const Candidate* candidate : stopped) {
    for (const std::string& variant : PassingVariants(question, *question.framework, *candidate))
      variants.insert(variant);
  }
  answer.alternatives.assign(variants.begin(), variants.end());
  std::ranges::sort(answer.alternatives, {},
                    [](const std::string& text) { return VersionOf(text); });
  if (!variants.empty()) return;
  for (const std::string& release : NewerReleases(question.knowledge, *question.framework)) {
    const FrameworkWish wish{question.framework->name, release, "", ""};
    for (const Candidate* candidate : stopped) {
      const FrameworkFindings found = CheckFramework(question, wish, *candidate);
      if (!found.findings.passed() || !found.findings.warnings.empty()) continue;
      AddCode(answer.advice, "NEWER_FRAMEWORK:" + release);
      return;
    }
  }
}

void HelpWithMode(const KnowledgeBase& knowledge, const Input& input, Answer& answer) {
  for (const std::string_view mode : {"container", "precompiled", "host_packages"}) {
    if (mode == input.mode) continue;
    Input other = input;
    other.mode = mode;
    const Question question(knowledge, other);
    const std::vector<Verdict> verdicts = JudgeAll(question);
    if (std::ranges::any_of(verdicts, &Verdict::passed))
      AddCode(answer.advice, "OTHER_MODE:" + std::string(mode));
  }
}

void HelpOut(const KnowledgeBase& knowledge, const Question& question,
             const std::vector<Verdict>& verdicts, Answer& answer) {
  const Input& input = question.input;
  answer.pinned = !input.driver.empty();
  if (answer.pinned) FindNeighbours(knowledge, input, answer);
  answer.suggest = Suggest(knowledge, input);
  HelpWithFramework(question, verdicts, answer);
  HelpWithMode(knowledge, input, answer);
  if (answer.suggest == nullptr) return;
  for (const std::string& warning : answer.suggest->warnings) AddCode(answer.warnings, warning);
}

Answer Refused(const Question& question, const std::vector<Reason>& reasons) {
  Answer answer;
  answer.status = AnswerStatus::kUnsupported;
  answer.unknown = question.unknown;
  AddCodes(answer.conflicts, reasons);
  ExplainReasons(question, reasons, answer);
  Conclude(answer);
  return answer;
}

Answer Answered(const KnowledgeBase& knowledge, const Input& input, Help help) {
  const Question question(knowledge, input);
  if (const std::vector<Reason> reasons = Unsupported(question); !reasons.empty())
    return Refused(question, reasons);

  const std::vector<Verdict> verdicts = JudgeAll(question);
  std::vector<const Verdict*> passing;
  for (const Verdict& verdict : verdicts) {
    if (verdict.passed()) passing.push_back(&verdict);
  }
  std::ranges::stable_sort(
      passing, [&](const Verdict* a, const Verdict* b) { return Better(question, *a, *b); });

  Answer answer;
  answer.unknown = question.unknown;
  AddCodes(answer.warnings, question.warnings);
  ExplainGpus(question, answer);
  ListAllowed(question, passing, answer);
  ListAll(passing, verdicts, answer);
  const Verdict* shown = passing.empty() ? Furthest(verdicts) : passing.front();
  if (passing.empty()) {
    if (verdicts.empty()) {
      const std::vector<Reason> none = {
          {"NO_HOST_PACKAGE", {}, FromRule(knowledge, "ubuntu_packages")}};
      AddCodes(answer.conflicts, none);
      ExplainReasons(question, none, answer);
    }
    if (shown != nullptr) {
      AddCodes(answer.conflicts, shown->rejections);
      AddCodes(answer.warnings, shown->warnings);
    }
    if (help == Help::kYes) HelpOut(knowledge, question, verdicts, answer);
  } else if (question.gpu_unknown) {
    answer.status = AnswerStatus::kUnknownGpu;  // the others would run; nobody knows about this one
  } else {
    Recommend(question, passing, answer);
  }
  if (shown != nullptr) ExplainVerdict(question, *shown, answer);
  ExplainReasons(question, question.warnings, answer);
  Advise(question, shown, answer);
  Conclude(answer);
  return answer;
}

}  // namespace

Answer Resolve(const KnowledgeBase& knowledge, const Input& input) {
  return Answered(knowledge, input, Help::kYes);
}

}  // namespace pawl::compat
