// Puts on the host what the host has to run: the OCI hooks that the CDI specification calls. The
// folder is upstream's (spec/container-toolkit.md §9.3); its content is one program under several
// names. Nothing is ever missing in between: a pod may start at any moment.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace pawl::agent {

// The names under which the program is reached, each a link beside it.
std::vector<std::string> ToolkitNames();

struct Toolkit {
  std::string program;    // <install_dir>/toolkit/pawl-runtime
  std::string hook_path;  // <install_dir>/toolkit/nvidia-cdi-hook
};
Toolkit ToolkitIn(const std::string& install_dir);

// Copies `program` there and makes the links; what is right already is left alone. Files of another
// toolkit under our names are replaced.
Result<Written> InstallToolkit(const std::string& program, const std::string& install_dir);

}  // namespace pawl::agent
