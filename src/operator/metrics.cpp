#include "operator/metrics.h"

#include <string_view>

namespace pawl::op {
namespace {

void Add(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         const std::string& value) {
  const std::string full = "gpu_operator_" + std::string(name);
  out.append("# HELP ").append(full).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(full).append(" ").append(type).append("\n");
  out.append(full).append(" ").append(value).append("\n");
}

}  // namespace

std::string Render(const Metrics& metrics) {
  std::string out;
  Add(out, "gpu_nodes_total", "gauge", "Nodes that have NVIDIA GPUs",
      std::to_string(metrics.summary.gpu_nodes));
  Add(out, "reconciliation_status", "gauge",
      "1: all is ready, 0: something is not, -1: no usable ClusterPolicy",
      std::to_string(metrics.summary.reconciliation_status));
  Add(out, "reconciliation_has_nfd_labels", "gauge",
      "1: some node has labels of feature.node.kubernetes.io",
      metrics.summary.has_nfd_labels ? "1" : "0");
  Add(out, "reconciliation_last_success_ts_seconds", "gauge",
      "When all was ready last, in Unix seconds", std::to_string(metrics.last_success));
  Add(out, "reconciliation_total", "counter", "Passes over the cluster",
      std::to_string(metrics.reconciliations));
  Add(out, "reconciliation_failed_total", "counter",
      "Passes with a refused request or that left something not ready",
      std::to_string(metrics.failed_reconciliations));
  return out;
}

}  // namespace pawl::op
