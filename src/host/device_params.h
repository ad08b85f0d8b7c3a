// The hook disable-device-node-modification: keeps the driver's libraries in a container from
// making or changing device nodes. spec/container-toolkit.md §6, vector 34.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/container_root.h"

namespace pawl::host {

// The same parameters with "ModifyDeviceFiles: 0"; nothing where the exact line with 1 is not in
// them.
std::optional<std::string> WithoutModification(std::string_view params);

// Mounts a changed, read-only copy of the host's `host_params` over the container's
// /proc/driver/nvidia/params, in the mount namespace of the caller: that of the container, where a
// createContainer hook runs. Nothing is done where the driver does not modify device files, or the
// container's /proc has no such file.
Status DisableDeviceNodeModification(const ContainerRoot& root, const std::string& host_params);

}  // namespace pawl::host
