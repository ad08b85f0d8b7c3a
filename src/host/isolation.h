// Runs something with the container's root as "/", cut off from the host.
// spec/container-toolkit.md §6 "update-ldcache", §10.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace pawl::host {

// In a child with new mount, UTS, IPC, PID and network namespaces: makes every mount private, makes
// `root` its "/" (pivot_root, or move and chroot where "/" is the initial ram disk), detaches the
// host's file systems, mounts a new /proc (where the kernel refuses that, as in some user
// namespaces, says so and goes on), then runs `work`. Waits for its end. `work` may exec; exit
// status 0 or a Status without error is success. The caller's own namespaces stay as they are.
//
// kInvalid for "/" itself. The caller must have one thread only.
Status RunIsolated(const std::string& root, const std::function<Status()>& work);

// Gives up for good, also over an exec, every capability but those to write files that belong to
// others; no setuid program gives any back.
Status DropCapabilities();

}  // namespace pawl::host
