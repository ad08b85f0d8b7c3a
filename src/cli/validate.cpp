// `pawl validate`: the agent's readiness probe. Ready when the agent lives and has put the file of
// the stage there.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "agent/state_file.h"
#include "base/files.h"
#include "cli/commands.h"

namespace pawl::cli {

void AddValidate(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string ready_file = "/run/nvidia/validations/plugin-ready";
    std::string run_dir = "/run/nvidia";
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("validate", "Whether this node's agent is ready");
  command->add_option("--ready-file", flags->ready_file, "The file that must be there");
  command->add_option("--run-dir", flags->run_dir, "The agent's");
  command->callback([flags, &exit_code] {
    exit_code = 1;
    if (!agent::AgentIsAlive(flags->run_dir)) {
      std::fprintf(stderr, "no agent is running: nobody holds %s\n",
                   agent::LockFilePath(flags->run_dir).c_str());
    } else if (!Exists(flags->ready_file)) {
      std::fprintf(stderr, "%s is not there yet\n", flags->ready_file.c_str());
      const Result<agent::AgentState> state = agent::ReadState(flags->run_dir);
      if (state) std::fputs(agent::ChainTable(state->chain, state->snapshot).c_str(), stderr);
    } else {
      exit_code = 0;
    }
  });
}

}  // namespace pawl::cli
