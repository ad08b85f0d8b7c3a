// The hook create-symlinks: the links beside the driver's mounted libraries.
// spec/container-toolkit.md §6.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/container_root.h"

namespace pawl::host {

// Each of `links` is "TARGET::LINK". The folder of LINK is found inside the root and made where it
// is missing; what has LINK's name is replaced, unless it is a folder. TARGET is text and is not
// looked at. Stops at the first that fails.
Status CreateSymlinks(const ContainerRoot& root, const std::vector<std::string>& links);

}  // namespace pawl::host
