// What to do besides choosing a driver (spec/compat.md §5.1). Inside of the resolver.
#pragma once

#include "compat/question.h"

namespace pawl::compat {

// Adds the codes that the GPUs give, and those of `verdict`: the recommended candidate, or the one
// that got furthest; null where there is none.
void Advise(const Question& question, const Verdict* verdict, Answer& answer);

// What an advice code asks to do, for a person.
std::string AdviceSentence(std::string_view code);

}  // namespace pawl::compat
