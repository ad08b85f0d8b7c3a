// Device nodes of the host as edits. spec/container-toolkit.md §5.4.
#pragma once

#include <string>
#include <vector>

#include "cdi/generate/generate.h"
#include "cdi/model/spec.h"

namespace pawl::cdi {

// Adds the node `path` ("/dev/nvidia0"), and its group where others may not read and write it.
// False where the host has no such character device.
bool AddNode(const GenerateOptions& options, const std::string& path, Edits& edits);

// Adds the DRM nodes of a GPU, and returns the links "TARGET::LINK" of /dev/dri/by-path to them.
std::vector<std::string> AddDrmNodes(const GenerateOptions& options, const gpu::Gpu& gpu,
                                     Edits& edits);

}  // namespace pawl::cdi
