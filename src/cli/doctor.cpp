// `pawl doctor`: the stages of this node, each with its state, its reason and what was seen.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "agent/state_file.h"
#include "base/json.h"
#include "cli/commands.h"

namespace pawl::cli {
namespace {

// 0: all is ready; 1: something is not; 2: nothing is known.
int Doctor(const std::string& run_dir, bool as_json) {
  const Result<agent::AgentState> state = agent::ReadState(run_dir);
  if (!state) {
    std::fprintf(stderr, "no agent has told its state on this node: %s\n",
                 state.error().message().c_str());
    return 2;
  }
  const bool alive = agent::AgentIsAlive(run_dir);
  const bool ready = alive && state->chain.FirstUnready() == nullptr;
  if (as_json) {
    json::object object;
    object["node"] = state->node_name;
    object["updated"] = state->updated;
    object["agentAlive"] = alive;
    object["ready"] = ready;
    object["chain"] = ToJsonValue(state->chain);
    object["gpus"] = ToJsonValue(state->snapshot);
    std::fputs(ToPrettyJson(object).c_str(), stdout);
  } else {
    if (!state->node_name.empty()) std::printf("node %s, ", state->node_name.c_str());
    std::printf("%s, last change %s\n", alive ? "agent running" : "AGENT NOT RUNNING",
                state->updated.c_str());
    std::fputs(agent::ChainTable(state->chain, state->snapshot).c_str(), stdout);
  }
  return ready ? 0 : 1;
}

}  // namespace

void AddDoctor(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string run_dir = "/run/nvidia";
    std::string output = "text";
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("doctor", "The stages of this node, and why one is not ready");
  command->add_option("--run-dir", flags->run_dir, "The agent's");
  command->add_option("-o,--output", flags->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback(
      [flags, &exit_code] { exit_code = Doctor(flags->run_dir, flags->output == "json"); });
}

}  // namespace pawl::cli
