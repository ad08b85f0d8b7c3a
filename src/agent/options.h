// How the agent of a node is run. The command line fills this in; nothing else reads flags or the
// environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/allocate.h"
#include "agent/decide/labels.h"
#include "base/task.h"
#include "cdi/generate/generate.h"
#include "kube/config.h"

namespace pawl::agent {

struct AgentOptions {
  std::string node_name;  // our Node object; empty is allowed without Kubernetes only

  std::string host_root = "/host";  // where we see the host's "/"; read only
  // The folder into which a driver container puts its root, as the host names it.
  std::string driver_install_dir = "/run/nvidia/driver";

  // Folders of the host that we write; we see them under the host's own names.
  std::string kubelet_dir = "/var/lib/kubelet";
  std::string cdi_dir = "/var/run/cdi";
  std::string install_dir = "/usr/local/nvidia";  // the toolkit goes below it
  std::string run_dir = "/run/nvidia";            // validations/, pawl/

  std::string runtime_program = "/usr/bin/pawl-runtime";  // in our image, for the host

  bool toolkit_enabled = true;
  bool device_plugin_enabled = true;
  bool discovery_enabled = true;

  MigStrategy mig_strategy = MigStrategy::kNone;
  AllocationRules allocation;
  std::string machine_type_file = "/sys/class/dmi/id/product_name";  // below host_root
  bool timestamp = true;                                             // the label gfd.timestamp

  std::vector<std::string> worker_command = {"/proc/self/exe", "nvml"};
  std::vector<std::string> worker_environment;
  // How long the worker may take (gpu/worker_client.h); tests shorten them.
  std::optional<Duration> call_deadline;
  std::optional<Duration> init_deadline;
  std::optional<Duration> probe_interval;
  // How long NVML may take to begin before GPUs that were known are shown as unusable. A start that
  // goes well takes some 50 ms; kubelet is never told of those.
  Duration driver_patience = 1s;

  // How a device node of the host is looked at; tests cannot make any.
  cdi::NodeReader read_device_node = cdi::ReadNodeFacts;

  // The least time between two writes of the same to the Node: what we wrote reaches our watch a
  // little later, and with somebody who writes against us we do not fight faster.
  Duration between_writes = 5s;

  // The API server; absent: work without Kubernetes, and write the labels to a file only.
  std::optional<kube::ClientConfig> kubernetes;
};

}  // namespace pawl::agent
