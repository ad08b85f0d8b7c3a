// The environment, for the files of this folder only.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "kube/config.h"

namespace pawl::cli {

// The first of these variables that is present, also when it is empty.
inline std::optional<std::string> FromEnvironment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return std::string(value);
  }
  return std::nullopt;
}

// All of it, "KEY=VALUE", for a child process.
std::vector<std::string> WholeEnvironment();

// Where to look for the API server.
kube::ConfigSources KubernetesSources(const std::string& kubeconfig_flag);

}  // namespace pawl::cli
