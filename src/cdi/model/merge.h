// Puts edits together, and brings a specification into the order that everybody expects.
// spec/container-toolkit.md §5.4 "Finishing".
#pragma once

#include "cdi/model/spec.h"

namespace pawl::cdi {

// Adds what `into` does not have yet, at the end, in the order of `from`.
void Merge(Edits& into, const Edits& from);

// Removes repeated elements (the first stays), takes from each device what the root edits say
// anyway (unless the device would be left empty), sorts device nodes and mounts by (depth, path)
// and devices by name. With `all_device`, adds the device "all", the union of the others, unless
// one of that name is there. Finishing twice changes nothing.
void Finish(Spec& spec, bool all_device);

}  // namespace pawl::cdi
