// What can be delivered: module flavours, precompiled images, container images, Ubuntu packages
// (spec/compat.md §4 stages 2 and 6, §8).
#pragma once

#include <vector>

#include "compat/question.h"

namespace pawl::compat {

// Stage 1 for one candidate: the GPUs against the branch and version.
Findings CheckGpus(const Question& question, const Candidate& candidate);

// Whether open modules would be new to a GPU of that version's list (GPU_NOT_LISTED).
void WarnOpenNotListed(const Question& question, const Candidate& candidate, Findings& findings);

struct Flavours {
  Findings findings;       // stage 2
  std::vector<bool> open;  // what is left to try, the branch's default first
};
Flavours CheckFlavours(const Question& question, const Candidate& candidate);

// No flavour is left even without a wish: the GPUs themselves disagree.
bool GpusDisagreeOnFlavour(const Question& question);

// Stages 6 and 7.
Findings CheckDelivery(const Question& question, const Candidate& candidate);
Findings CheckLife(const Question& question, const Candidate& candidate);

// The image's tag (§8): "595.91.07-ubuntu22.04", "580-6.8.0-1028-nvidia-ubuntu24.04"; empty where
// the operating system, or what else the tag needs, is unknown, and for host_packages.
std::string ImageTag(const Question& question, const Candidate& candidate);

// "ubuntu24.04", "rhel9"; empty for an unknown system.
std::string OsTag(const Input& input);

// The package that a package's name installs in the end (§8: names become others').
const UbuntuPackage* Installed(const KnowledgeBase& knowledge, const UbuntuPackage& package);

}  // namespace pawl::compat
