// `pawl agent`: makes a node's GPUs usable by pods; one on every GPU node.
#include "agent/agent.h"

#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/environment.h"

namespace pawl::cli {
namespace {

struct Flags {
  agent::AgentOptions options;
  std::string kubeconfig;
  bool no_kubernetes = false;
  std::string mig_strategy = "none";
  std::string list_strategy = "cdi-annotations,cdi-cri";
  std::string id_strategy = "uuid";
  LogFlags log;
};

void AddOptions(CLI::App& command, Flags& flags) {
  agent::AgentOptions& options = flags.options;
  command.add_option("--node-name", options.node_name, "Our node's name")->envname("NODE_NAME");
  command.add_option("--host-root", options.host_root, "Where the host's / is mounted");
  command.add_option("--driver-install-dir", options.driver_install_dir,
                     "The host's folder with a driver container's root");
  command.add_option("--kubelet-dir", options.kubelet_dir, "Kubelet's folder");
  command.add_option("--cdi-dir", options.cdi_dir, "Where CDI specifications go");
  command.add_option("--install-dir", options.install_dir, "The toolkit is put below it");
  command.add_option("--run-dir", options.run_dir, "For validations/ and our own state");
  command.add_option("--runtime-program", options.runtime_program,
                     "The program that is put on the host");
  command.add_option("--toolkit-enabled", options.toolkit_enabled, "Put the hooks on the host");
  command.add_option("--device-plugin-enabled", options.device_plugin_enabled,
                     "Offer the GPUs to kubelet");
  command.add_option("--gfd-enabled", options.discovery_enabled, "Label the node");
  command.add_option("--machine-type-file", options.machine_type_file, "For the machine's label");
  command.add_option("--mig-strategy", flags.mig_strategy, "none, single or mixed")
      ->envname("MIG_STRATEGY");
  command
      .add_option("--device-list-strategy", flags.list_strategy,
                  "Of envvar, volume-mounts, cdi-annotations, cdi-cri; at commas")
      ->envname("DEVICE_LIST_STRATEGY");
  command.add_option("--device-id-strategy", flags.id_strategy, "uuid or index")
      ->envname("DEVICE_ID_STRATEGY");
  command
      .add_option("--cdi-annotation-prefix", options.allocation.cdi_annotation_prefix,
                  "In the place of cdi.k8s.io/")
      ->envname("CDI_ANNOTATION_PREFIX");
  command
      .add_flag("--pass-device-specs", options.allocation.pass_device_specs,
                "Also name the device nodes, unless all strategies are of CDI")
      ->envname("PASS_DEVICE_SPECS");
  command.add_option("--kubeconfig", flags.kubeconfig, "Else as the pod's service account");
  command.add_flag("--no-kubernetes", flags.no_kubernetes,
                   "Speak to kubelet only: no labels, no condition");
  AddLogFlags(command, flags.log);
}

// The words and the configuration of Kubernetes into the options.
Status Complete(Flags& flags) {
  agent::AgentOptions& options = flags.options;
  const auto mig = agent::ParseMigStrategy(flags.mig_strategy);
  if (!mig) return Fail(mig.error());
  options.mig_strategy = *mig;
  const auto strategies = agent::ParseListStrategies(flags.list_strategy);
  if (!strategies) return Fail(strategies.error());
  options.allocation.strategies = *strategies;
  const auto ids = agent::ParseIdStrategy(flags.id_strategy);
  if (!ids) return Fail(ids.error());
  options.allocation.id_strategy = *ids;
  options.worker_environment = WholeEnvironment();
  if (flags.no_kubernetes) return {};
  if (options.node_name.empty()) {
    return Fail(ErrorKind::kInvalid,
                "--node-name (or NODE_NAME) is needed; --no-kubernetes works "
                "without");
  }
  auto config = kube::LoadConfig(KubernetesSources(flags.kubeconfig));
  if (!config) return Fail(config.error().With("--no-kubernetes was not given"));
  options.kubernetes = *std::move(config);
  return {};
}

// Every thread would get an arena of its own, and freed memory would stay in it.
void LimitHeap() {
  constexpr int kMmapFrom = 64 << 10;
  constexpr int kTrimFrom = 128 << 10;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kMmapFrom);
  mallopt(M_TRIM_THRESHOLD, kTrimFrom);
}

// Without the end of what is static: nothing there has anything left to write.
void EndProcess(int exit_code) {
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace

void AddAgent(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("agent", "Make this node's GPUs usable by pods");
  AddOptions(*command, *flags);
  command->callback([flags, &exit_code] {
    LimitHeap();
    ConfigureLog(flags->log);
    if (Status complete = Complete(*flags); !complete) {
      log::Failure("the agent cannot start", {{"error", complete.error()}});
      exit_code = 1;
      return;
    }
    agent::RunAgent(flags->options, &EndProcess);
  });
}

}  // namespace pawl::cli
