// `pawl plan`: what the operator would do now, without doing it.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/run_task.h"
#include "cli/commands.h"
#include "cli/daemon.h"
#include "operator/decide.h"
#include "operator/fetch.h"

namespace pawl::cli {
namespace {

struct PlanFlags {
  std::string kubeconfig;
  std::string ns = "gpu-operator";
  std::string image;
  std::string output = "text";
};

void Print(const op::Decision& decision, const std::string& format) {
  if (format == "json") {
    json::array actions;
    for (const op::Action& action : decision.actions) actions.emplace_back(ToJsonValue(action));
    std::fputs(ToPrettyJson(actions).c_str(), stdout);
    return;
  }
  if (decision.actions.empty())
    std::puts("Nothing to do: the cluster is as its ClusterPolicy wants.");
  for (const op::Action& action : decision.actions) std::fputs(Describe(action).c_str(), stdout);
}

int Run(const PlanFlags& flags) {
  asio::io_context loop(1);
  auto client = ConnectKubernetes(loop.get_executor(), flags.kubeconfig, "plan");
  if (!client) {
    std::fprintf(stderr, "pawl plan: %s\n", client.error().message().c_str());
    return 1;
  }
  const Result<op::ClusterView> view =
      RunTask(loop, op::FetchView(**client, flags.ns, flags.image));
  if (!view) {
    std::fprintf(stderr, "pawl plan: %s\n", view.error().message().c_str());
    return 1;
  }
  Print(op::Decide(*view), flags.output);
  return 0;
}

}  // namespace

void AddPlan(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command = app.add_subcommand("plan", "Print what the operator would do now");
  command->add_option("--kubeconfig", flags->kubeconfig,
                      "Instead of KUBECONFIG and ~/.kube/config");
  command->add_option("-n,--namespace", flags->ns, "The operator's namespace");
  command->add_option("--image", flags->image, "The agent's image; empty: as the operator runs");
  command->add_option("-o,--output", flags->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([flags, &exit_code] { exit_code = Run(*flags); });
}

}  // namespace pawl::cli
