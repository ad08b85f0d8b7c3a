// pawl-runtime: the OCI hooks, on the host, statically linked.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/version.h"
#include "host/program.h"

int main(int argc, char** argv) {
  // What the caller's environment, open files or umask are must not matter: a hook may be started
  // with a container's own. spec/container-toolkit.md §10.
  clearenv();
  close_range(3, ~0U, 0);
  umask(022);
  const std::string version = std::string(pawl::kVersion) + " (pawl, commit " + pawl::kCommit +
                              ", compatible with gpu-operator " + pawl::kGpuOperatorCompatibility +
                              ")";
  return pawl::host::RunProgram(std::vector<std::string>(argv, argv + argc), version);
}
