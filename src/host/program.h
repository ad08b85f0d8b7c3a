// pawl-runtime: what runs on the host beside the container runtime. It goes by several names, and
// its own name (argv[0]) decides how its arguments are read. spec/container-toolkit.md §6, §7.
//
//   nvidia-cdi-hook NAME FLAGS…          (also "nvidia-cdi-hook hook NAME FLAGS…")
//   nvidia-ctk hook NAME FLAGS…
//   pawl-runtime hook NAME FLAGS…
//   … --version
#pragma once

#include <string>
#include <vector>

namespace pawl::host {

// `arguments` with argv[0]; `version` is printed for --version. Returns the exit status: 0; 1 after
// a message on standard error. A hook that we do not know is a warning and 0, since a specification
// may have been written for a newer program.
int RunProgram(const std::vector<std::string>& arguments, const std::string& version);

}  // namespace pawl::host
