// The hooks by name, with their flags. spec/container-toolkit.md §6.
//
//   create-symlinks                  --link TARGET::LINK …
//   enable-cuda-compat               --host-driver-version V --host-cuda-version V
//                                    --cuda-compat-container-root FOLDER
//   update-ldcache                   --folder FOLDER … --ldconfig-path PATH
//   disable-device-node-modification
//   update-application-profile
//
// Each also takes --container-spec FILE, the container's state in place of standard input.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pawl::host {

bool IsHook(const std::string& name);
std::string KnownHooks();  // "create-symlinks, enable-cuda-compat, …", for messages

// kInvalid for a bad flag.
Status RunHook(const std::string& name, const std::vector<std::string>& flags);

}  // namespace pawl::host
