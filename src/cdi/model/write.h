// A CDI specification as a JSON value, in the format's own order of fields. What is not stated
// (empty, or zero where zero means that) is left out. The version is the minimum that the content
// needs, so that old runtimes go on reading it. spec/container-toolkit.md §5.1, §5.4.
#pragma once

#include "base/json.h"
#include "cdi/model/spec.h"

namespace pawl::cdi {

json::value ToJsonValue(const Spec& spec);

}  // namespace pawl::cdi
