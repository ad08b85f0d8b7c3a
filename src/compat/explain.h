// The reasons in words, each with its source and confidence. Inside of the resolver.
#pragma once

#include <string>

#include "compat/question.h"

namespace pawl::compat {

// What a code means, for a person: "T4 (1EB8) needs driver 410.48 or later".
std::string Sentence(const KnowledgeBase& knowledge, const Reason& reason);

// One fact a GPU: architecture, drivers, open modules.
void ExplainGpus(const Question& question, Answer& answer);

// What speaks for and against this candidate: branch, release, kernel, CUDA, framework.
void ExplainVerdict(const Question& question, const Verdict& verdict, Answer& answer);

void ExplainReasons(const Question& question, const std::vector<Reason>& reasons, Answer& answer);

void AddFact(Answer& answer, std::string code, std::string text, const Provenance& from);

// Takes repeated facts out and finds the weakest confidence.
void Conclude(Answer& answer);

}  // namespace pawl::compat
