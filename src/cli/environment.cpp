#include "cli/environment.h"

#include <unistd.h>

namespace pawl::cli {

std::vector<std::string> WholeEnvironment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

kube::ConfigSources KubernetesSources(const std::string& kubeconfig_flag) {
  kube::ConfigSources sources;
  sources.kubeconfig_flag = kubeconfig_flag;
  sources.kubeconfig_env = FromEnvironment({"KUBECONFIG"}).value_or("");
  sources.home = FromEnvironment({"HOME"}).value_or("");
  sources.service_host = FromEnvironment({"KUBERNETES_SERVICE_HOST"}).value_or("");
  sources.service_port = FromEnvironment({"KUBERNETES_SERVICE_PORT"}).value_or("");
  return sources;
}

}  // namespace pawl::cli
