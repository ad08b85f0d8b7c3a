// `pawl scout`: on every node; finds GPUs and writes the labels that the rest relies on.
#include "scout/scout.h"

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/daemon.h"

namespace pawl::cli {
namespace {

struct ScoutFlags {
  std::string kubeconfig;
  scout::ScoutOptions options;
  LogFlags log;
};

Task<> RunToTheEnd(scout::Scout& work, asio::io_context& loop) {
  co_await work.Run();
  loop.stop();
}

int Run(const ScoutFlags& flags) {
  ConfigureLog(flags.log);
  asio::io_context loop(1);
  auto client = ConnectKubernetes(loop.get_executor(), flags.kubeconfig, "scout");
  if (!client) {
    log::Failure("the scout cannot start", {{"error", client.error()}});
    return 1;
  }
  log::Info("scout starts", {{"version", kVersion}, {"node", flags.options.node_name}});
  scout::Scout work(loop.get_executor(), **client, flags.options);
  OnStopSignal(loop.get_executor(), [&work] { work.Stop(); });
  Spawn(loop.get_executor(), "scout", RunToTheEnd(work, loop));
  loop.run();
  return 0;
}

}  // namespace

void AddScout(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ScoutFlags>();
  CLI::App* command = app.add_subcommand("scout", "Node: find GPUs, label the node");
  command->add_option("--node-name", flags->options.node_name, "Our Node object")->required();
  command->add_option("--host-root", flags->options.host_root, "Where the node's / is mounted");
  command->add_option("--kubeconfig", flags->kubeconfig, "Instead of the pod's service account");
  AddLogFlags(*command, flags->log);
  command->callback([flags, &exit_code] { exit_code = Run(*flags); });
}

}  // namespace pawl::cli
