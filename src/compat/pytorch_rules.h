// PyTorch's wheels against drivers and GPUs (spec/compat.md §7): each release has builds for
// several CUDA versions, each build has code for a list of compute capabilities.
#pragma once

#include "compat/framework_rules.h"

namespace pawl::compat {

FrameworkFindings CheckPyTorch(const Question& question, const FrameworkWish& wish,
                               const Candidate& candidate);

// The CUDA variants of the wished release that pass, whichever was asked for.
std::vector<std::string> PassingVariants(const Question& question, const FrameworkWish& wish,
                                         const Candidate& candidate);

}  // namespace pawl::compat
