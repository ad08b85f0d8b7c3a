// `pawl operator`: the cluster's brain, one replica leading. Flags and environment as upstream's
// operator has them (spec/operator.md §1), those that do something here.
#include "operator/operator.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/environment.h"
#include "operator/names.h"

namespace pawl::cli {
namespace {

struct OperatorFlags {
  std::string kubeconfig;
  std::string metrics_address = ":8080";
  std::string health_address = ":8081";
  bool leader_elect = false;
  std::string leader_elect_namespace;
  int renew_deadline_seconds = 10;
  LogFlags log;
  bool zap_devel = false;
  std::string zap_level;
};

std::string Identity() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return std::string(name) + "_" + to_string(boost::uuids::random_generator()());
}

// The chart's own flags for logging: JSON lines, or text and more of it for development.
LogFlags LogOf(const OperatorFlags& flags) {
  LogFlags log = flags.log;
  if (!flags.zap_level.empty()) log = {flags.zap_level, "json"};
  if (flags.zap_devel) log = {"debug", "text"};
  return log;
}

Task<> RunToTheEnd(op::Operator& work, asio::io_context& loop, int& exit_code) {
  const Status end = co_await work.Run();
  if (!end) {
    log::Failure("the operator ends", {{"error", end.error()}});
    exit_code = 1;
  }
  loop.stop();
}

int Run(const OperatorFlags& flags) {
  ConfigureLog(LogOf(flags));
  op::OperatorOptions options;
  options.ns = FromEnvironment({"OPERATOR_NAMESPACE"}).value_or("");
  if (options.ns.empty()) {
    log::Failure("OPERATOR_NAMESPACE is not set; it names the namespace the operator runs in");
    return 1;
  }
  options.agent_image = FromEnvironment({"VALIDATOR_IMAGE"}).value_or("");
  options.metrics_address = flags.metrics_address;
  options.health_address = flags.health_address;
  options.leader_elect = flags.leader_elect;
  options.lease.ns =
      flags.leader_elect_namespace.empty() ? options.ns : flags.leader_elect_namespace;
  options.lease.name = op::kLeaseName;
  options.lease.identity = Identity();
  options.lease.renew_deadline = std::chrono::seconds(flags.renew_deadline_seconds);
  options.lease.duration = options.lease.renew_deadline + 5s;
  if (const Status valid = kube::Validate(options.lease); !valid) {
    log::Failure("--leader-lease-renew-deadline cannot be used", {{"error", valid.error()}});
    return 1;
  }

  asio::io_context loop(1);
  const Executor executor = loop.get_executor();
  auto client = ConnectKubernetes(executor, flags.kubeconfig, "operator");
  if (!client) {
    log::Failure("the operator cannot start", {{"error", client.error()}});
    return 1;
  }
  log::Info("operator starts", {{"version", kVersion}, {"namespace", options.ns}});
  op::Operator work(executor, **client, std::move(options));
  int exit_code = 0;
  OnStopSignal(executor, [&work] { work.Stop(); });
  Spawn(executor, "operator", RunToTheEnd(work, loop, exit_code));
  loop.run();
  return exit_code;
}

}  // namespace

void AddOperator(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<OperatorFlags>();
  CLI::App* command = app.add_subcommand("operator", "Cluster: look after the GPU nodes");
  command->add_option("--kubeconfig", flags->kubeconfig, "Instead of the pod's service account");
  command->add_option("--metrics-bind-address", flags->metrics_address,
                      "Where /metrics is served; 0: nowhere");
  command->add_option("--health-probe-bind-address", flags->health_address,
                      "Where /healthz and /readyz are served");
  command->add_flag("--leader-elect", flags->leader_elect, "Work only while holding the lease");
  command->add_option("--leader-elect-namespace", flags->leader_elect_namespace,
                      "Namespace of the lease; empty: the operator's own");
  command
      ->add_option("--leader-lease-renew-deadline", flags->renew_deadline_seconds,
                   "Without a renewal for so long the leader gives up; the lease lasts 5 s longer")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, int>{{"s", 1}, {"m", 60}}));
  AddLogFlags(*command, flags->log);
  command->add_flag("--zap-devel", flags->zap_devel, "Text lines, debug level");
  command
      ->add_option("--zap-log-level", flags->zap_level,
                   "JSON lines of this level: debug, info, error")
      ->check(CLI::IsMember({"debug", "info", "error"}));
  command->callback([flags, &exit_code] { exit_code = Run(*flags); });
}

}  // namespace pawl::cli
