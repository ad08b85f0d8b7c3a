#include "cli/daemon.h"

#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "base/version.h"
#include "cli/environment.h"

namespace pawl::cli {

void AddLogFlags(CLI::App& command, LogFlags& flags) {
  command.add_option("--log-level", flags.level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  command.add_option("--log-format", flags.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
}

void ConfigureLog(const LogFlags& flags) {
  log::Level level = log::Level::kInfo;
  if (flags.level == "debug") level = log::Level::kDebug;
  if (flags.level == "warning") level = log::Level::kWarning;
  if (flags.level == "error") level = log::Level::kError;
  log::Configure(level, flags.format == "json" ? log::Format::kJson : log::Format::kText);
}

Result<std::unique_ptr<kube::Client>> ConnectKubernetes(const Executor& executor,
                                                        const std::string& kubeconfig_flag,
                                                        const std::string& component) {
  Result<kube::ClientConfig> config = kube::LoadConfig(KubernetesSources(kubeconfig_flag));
  if (!config) return Fail(config.error().With("looking for the API server"));
  kube::ClientOptions options;
  options.component = component;
  options.version = kVersion;
  return kube::Client::Create(executor, *config, std::move(options));
}

void OnStopSignal(const Executor& executor, std::function<void()> stop) {
  auto signals = std::make_shared<asio::signal_set>(executor, SIGTERM, SIGINT);
  signals->async_wait(
      [signals, stop = std::move(stop)](const boost::system::error_code& error, int number) {
        if (error) return;
        log::Info("stopping", {{"signal", number}});
        signals->clear();
        std::signal(number, SIG_DFL);
        stop();
      });
}

}  // namespace pawl::cli
