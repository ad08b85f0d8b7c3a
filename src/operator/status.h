// The status of a ClusterPolicy: spec/operator.md §4, spec/api.md §3.4. Pure.
//
// Conditions come as a pair. Good: Ready=True with the reason, Error=False. Bad: Ready=False,
// Error=True with the reason. What the policy asks for in vain is listed in a third condition,
// ConfigWarnings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/cluster_policy.h"
#include "base/clock.h"
#include "base/json.h"
#include "operator/view.h"

namespace pawl::op {

struct Outcome {
  bool good = false;
  std::string state = "notReady";  // ready, notReady, ignored
  std::string reason;              // Reconciled, NoGPUNodes, NFDLabelsMissing, ReconcileFailed,
                                   // OperandNotReady, Ignored
  std::string message;
};

// How the DaemonSet stands that has to run on `expected_nodes` nodes: spec/operator.md §6.
bool IsRolledOut(const json::value& daemonset, int64_t expected_nodes);

// "ClusterPolicy is not ready; states not ready: [a b]", then the details, each after "; ".
std::string NotReadyMessage(const std::vector<std::string>& states,
                            const std::vector<std::string>& details);

// The body of an apply to the status of `live`, or nothing where it says all of that already.
// A condition keeps its lastTransitionTime while its status stays.
std::optional<json::object> WantedStatus(const json::value& live, const Outcome& outcome,
                                         const std::vector<std::string>& warnings,
                                         const std::string& ns, WallTime now);

}  // namespace pawl::op
