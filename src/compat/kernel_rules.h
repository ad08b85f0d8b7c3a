// Does this driver build and work on this kernel (spec/compat.md §4, stage 3, §4.1 and §4.2)?
#pragma once

#include "compat/question.h"

namespace pawl::compat {

// Stage 3 for one candidate in one flavour.
Findings CheckKernel(const Question& question, const Candidate& candidate, bool open);

// Ubuntu's own signed modules of this branch and flavour for exactly this kernel, or nullptr.
const UbuntuModules* PrebuiltFor(const Question& question, std::string_view branch, bool open);

// The compiler that a BREAKAGE of this id asks for, "gcc-12"; empty where it is about none.
std::string CompilerFor(const KnowledgeBase& knowledge, std::string_view breakage_id);

// "open" or "proprietary".
std::string_view FlavourName(bool open);

}  // namespace pawl::compat
