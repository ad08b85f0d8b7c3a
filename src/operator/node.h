// What the operator knows of a node: the labels and the condition that decisions read. A Node is 10
// to 50 KB on the wire; this is a few hundred bytes.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "kube/object.h"

namespace pawl::op {

// The agent's verdict on its node (spec/readiness-health.md §1). Absent: `status` is empty.
struct GpuCondition {
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
  bool operator==(const GpuCondition&) const = default;
};

struct Node {
  std::string name;
  std::string resource_version;
  kube::Labels labels;   // of nvidia.com/, and the labels that tell a GPU (spec/operator.md §3.1)
  bool has_nfd = false;  // carries any label of feature.node.kubernetes.io/
  GpuCondition gpu_ready;
  bool operator==(const Node&) const = default;
};

Result<Node> ParseNode(const json::value& object);

// Whether something decisions read differs: everything but the resource version.
bool DiffersForDecisions(const Node& one, const Node& other);

}  // namespace pawl::op
