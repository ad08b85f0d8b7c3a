// The driver's files that are no libraries, as mounts: programs, firmware, configuration, sockets.
// spec/container-toolkit.md §5.4 "Mounts". What is not there is left out without a word: which of
// them a driver has depends on how it was installed.
#pragma once

#include <string>
#include <vector>

#include "cdi/generate/root.h"
#include "cdi/model/spec.h"

namespace pawl::cdi {

// Read only, as all of the driver's files are mounted.
Mount FileMount(const std::string& host_path, const std::string& container_path);

// nvidia-smi and the others, from the folders that PATH usually has.
void AddPrograms(const Root& driver, Edits& edits);

// gsp*.bin of a driver version. `sys` is where we see the folder that holds /sys.
void AddFirmware(const Root& driver, const std::string& sys, const std::string& version,
                 Edits& edits);

// What EGL, Vulkan, OpenCL, OptiX and X.Org read.
void AddConfiguration(const Root& driver, const std::vector<std::string>& search_paths,
                      Edits& edits);

// Sockets of persistenced and of the fabric manager, and MPS' folder; writable.
void AddSockets(const Root& driver, Edits& edits);

}  // namespace pawl::cdi
