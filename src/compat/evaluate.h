// All candidates through all stages (spec/compat.md §4). Inside of the resolver.
#pragma once

#include <vector>

#include "compat/question.h"

namespace pawl::compat {

// Which releases are to be looked at; a pinned version is looked at even where no list has it.
std::vector<Candidate> CandidatesFor(const Question& question);

// A release of the data, or one that is in no list.
Candidate CandidateFor(const KnowledgeBase& knowledge, std::string_view version);

Verdict Judge(const Question& question, const Candidate& candidate);

// Best first (§5): the order in which passing candidates are recommended.
bool Better(const Question& question, const Verdict& a, const Verdict& b);

}  // namespace pawl::compat
