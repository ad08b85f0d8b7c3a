// The node labels that say where GPUs are and which operands run there: spec/operator.md §3. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/cluster_policy.h"
#include "operator/node.h"

namespace pawl::op {

// Key to new value; nothing means the label goes.
using LabelChanges = std::map<std::string, std::optional<std::string>>;

// What the node-labelling pass (§3.5) does to this node; empty when all is as it should be.
LabelChanges WantedLabelChanges(const Node& node, const api::ClusterPolicy& policy);

// The node's labels after the changes.
kube::Labels WithChanges(kube::Labels labels, const LabelChanges& changes);

bool HasGpu(const kube::Labels& labels);        // one of the PCI labels is "true"
bool IsMigCapable(const kube::Labels& labels);  // §3.1

}  // namespace pawl::op
