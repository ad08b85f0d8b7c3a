// What the runtime tells a hook about its container: the OCI state, JSON on standard input.
// spec/container-toolkit.md §5.2, §6.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::host {

// Where the container's root file system is on the host: the state's own "root" (crun gives it),
// else "root.path" of BUNDLE/config.json, relative to the bundle.
Result<std::string> RootOfState(std::string_view state);

// The state from a file; from standard input where the name is empty or "-".
Result<std::string> ReadState(const std::string& file);

}  // namespace pawl::host
