// What the command lines of the daemons have in common: logging, the API server, signals.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"

namespace CLI {
class App;
}

namespace pawl::cli {

struct LogFlags {
  std::string level = "info";
  std::string format = "text";
};
// --log-level, --log-format.
void AddLogFlags(CLI::App& command, LogFlags& flags);
void ConfigureLog(const LogFlags& flags);

// The flag, then KUBECONFIG, the pod's service account, ~/.kube/config.
Result<std::unique_ptr<kube::Client>> ConnectKubernetes(const Executor& executor,
                                                        const std::string& kubeconfig_flag,
                                                        const std::string& component);

// Calls `stop` once, on the loop, at the first SIGTERM or SIGINT. A second one ends the process.
void OnStopSignal(const Executor& executor, std::function<void()> stop);

}  // namespace pawl::cli
