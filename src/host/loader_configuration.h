// What the dynamic loader of a container reads: /etc/ld.so.conf and its folder, and musl's path
// file on Alpine. spec/container-toolkit.md §6 "update-ldcache".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/container_root.h"

namespace pawl::host {

// Ours, replaced in place when a container starts again: the driver's folders come first, the
// system's own folders last (a host's ldconfig does not know those of another distribution).
inline constexpr const char* kDriverConf = "00-nvcr-pawl.conf";
inline constexpr const char* kSystemConf = "zz-nvcr-pawl.conf";

// Makes the loader's configuration cover `folders` (absolute paths of the container): adds the
// include line to ld.so.conf where it is missing, writes the folders that nothing lists yet, and
// the system's folders. Everything is found and written inside the root.
Status WriteLoaderConfiguration(const ContainerRoot& root, const std::vector<std::string>& folders);

// The folders that ld.so.conf and what it includes list, without what our own files list.
std::vector<std::string> ConfiguredFolders(const ContainerRoot& root);

}  // namespace pawl::host
