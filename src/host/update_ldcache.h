// The hook update-ldcache: makes the container's loader find the driver's libraries.
// spec/container-toolkit.md §6.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/container_root.h"

namespace pawl::host {

// Writes the loader's configuration and runs the host's ldconfig, both with the container's root as
// "/" and cut off from the host (isolation.h). The image's own ldconfig is never run, and ours runs
// from a sealed copy in memory, so that nothing in the container can reach the host's file.
//
// `ldconfig` is the host's path; a leading "@" is ignored, and PATH.real is preferred where it
// exists (Debian's derivatives have a script at PATH).
Status UpdateLdCache(const ContainerRoot& root, const std::vector<std::string>& folders,
                     const std::string& ldconfig);

// A copy of a program in memory that can be executed and no longer changed.
Result<FileDescriptor> SealedCopy(const std::string& path);

}  // namespace pawl::host
