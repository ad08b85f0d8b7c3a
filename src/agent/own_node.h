// Our own Node object: the part of it that we read, and the bodies that we apply to it
// (spec/kubernetes-client.md §4, spec/readiness-health.md §2). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agent/decide/chain.h"
#include "agent/decide/labels.h"
#include "base/clock.h"
#include "base/json.h"

namespace pawl::agent {

struct OwnNode {
  std::map<std::string, std::string> labels;   // of nvidia.com/ only
  std::set<std::string> nfd_labels;            // keys that Node Feature Discovery owns
  std::map<std::string, int64_t> allocatable;  // of nvidia.com/ only
  std::optional<NodeCondition> gpu_ready;
  std::string gpu_ready_since;  // lastTransitionTime

  bool operator==(const OwnNode&) const = default;
};

Result<OwnNode> ParseOwnNode(const json::value& object);

// The labels that are ours to write: those that NFD owns are left to it
// (spec/feature-discovery.md §11.6).
Labels LabelsToWrite(const Labels& wanted, const OwnNode* node);

// Whether the node lacks one of them or has another value.
bool LabelsDiffer(const Labels& wanted, const OwnNode& node);

json::value LabelsBody(const std::string& node_name, const Labels& labels);

// The condition for the status subresource. The time of the last transition moves only when the
// status does.
json::value ConditionBody(const std::string& node_name, const NodeCondition& condition,
                          const OwnNode* node, WallTime now);

}  // namespace pawl::agent
