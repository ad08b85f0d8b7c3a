// `pawl nvml`: the agent's worker, the only process that loads NVML. Not for people.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "gpu/worker.h"

namespace pawl::cli {

void AddNvml(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand("nvml", "The agent's NVML worker");
  command->group("");  // hidden
  command->callback([] {
    // Without destructors: a thread of the library may hang for ever.
    _exit(gpu::RunNvmlWorker(gpu::kNvmlWorkerSocket));
  });
}

}  // namespace pawl::cli
