// Our own Node object: the part of it that we read, and the bodies that we apply to it
// (spec/kubernetes-client.md §4, spec/readiness-health.md §2). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "agent/decide/chain.h"
#include "agent/decide/labels.h"
#include "base/clock.h"
#include "base/json.h"
#include "kube/label_owners.h"

namespace pawl::agent {

struct OwnNode {
  std::map<std::string, std::string> labels;  // of nvidia.com/ only
  kube::LabelOwners owners;
  std::map<std::string, int64_t> allocatable;  // of nvidia.com/ only
  std::optional<NodeCondition> gpu_ready;
  std::string gpu_ready_since;  // lastTransitionTime

  bool operator==(const OwnNode&) const = default;
};

// `field_manager` is ours.
Result<OwnNode> ParseOwnNode(const json::value& object, std::string_view field_manager);

// The labels that are ours to write: those that NFD owns are left to it (kube/label_owners.h).
Labels LabelsToWrite(const Labels& wanted, const OwnNode* node);

// Whether the node lacks one of them or has another value.
bool LabelsDiffer(const Labels& wanted, const OwnNode& node);

json::value LabelsBody(const std::string& node_name, const Labels& labels);

// The condition for the status subresource. The time of the last transition moves only when the
// status does.
json::value ConditionBody(const std::string& node_name, const NodeCondition& condition,
                          const OwnNode* node, WallTime now);

}  // namespace pawl::agent
