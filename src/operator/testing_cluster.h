// A cluster in memory for tests of decisions: carries actions out on a view as an API server would.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operator/action.h"
#include "operator/view.h"

namespace pawl::op::testing_cluster {

std::shared_ptr<const Node> MakeNode(std::string name, kube::Labels labels,
                                     GpuCondition gpu_ready = {});

// A ClusterPolicy with this spec, as YAML.
ObjectPointer MakePolicy(std::string_view name, std::string_view created, std::string_view spec);

void CarryOut(const Action& action, ClusterView& view);
void CarryOut(const std::vector<Action>& actions, ClusterView& view);

// The agent's DaemonSet of the view as if all `nodes` pods of it were available.
void RollOut(ClusterView& view, int nodes);

}  // namespace pawl::op::testing_cluster
