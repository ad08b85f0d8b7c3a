// The driver's libraries in a driver root, and the links that a container needs beside them.
// spec/container-toolkit.md §5.4 "Mounts", "Discovery", "Driver symlinks".
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cdi/generate/root.h"

namespace pawl::cdi {

struct DriverLibraries {
  std::string version;               // "550.107.02"
  std::vector<std::string> folders;  // those that hold lib*.so.VERSION, in the order of the search
  std::vector<FoundFile> driver;     // of CUDA, NVML, video …, also those in vdpau/
  std::vector<FoundFile> graphics;   // EGL platforms and X.Org modules
};

// `version` empty: taken from the name of libcuda or libnvidia-ml. `search_paths` come before the
// usual folders. kNotFound where no library of the version is found.
Result<DriverLibraries> FindDriverLibraries(const Root& root, const std::string& version,
                                            const std::vector<std::string>& search_paths);

// The folders that a container's loader must know: those of the driver's libraries, sorted.
std::vector<std::string> LoaderFolders(const DriverLibraries& libraries);

// "TARGET::LINK" for the hook create-symlinks.
std::vector<std::string> DriverLinks(const DriverLibraries& libraries);
std::vector<std::string> GraphicsLinks(const DriverLibraries& libraries);

}  // namespace pawl::cdi
