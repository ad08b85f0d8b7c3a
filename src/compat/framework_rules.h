// Frameworks against drivers and GPUs (spec/compat.md §7).
#pragma once

#include "compat/question.h"

namespace pawl::compat {

struct FrameworkFindings {
  Findings findings;
  std::optional<FrameworkChoice> choice;  // where something runs
};

// Stage 5 for one candidate: the wished release, or the newest that runs where it names none.
FrameworkFindings CheckFramework(const Question& question, const FrameworkWish& wish,
                                 const Candidate& candidate);

// Releases newer than the wished one, oldest first; empty where the data does not follow them.
std::vector<std::string> NewerReleases(const KnowledgeBase& knowledge, const FrameworkWish& wish);

// The newest release of each framework that runs on this candidate, with the command.
std::vector<FrameworkChoice> AllThatRun(const Question& question, const Candidate& candidate);

}  // namespace pawl::compat
