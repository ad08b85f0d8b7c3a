#include "agent/own_node.h"

#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/resource.h"

namespace pawl::agent {
namespace {

constexpr std::string_view kPrefix = "nvidia.com/";

}  // namespace

Result<OwnNode> ParseOwnNode(const json::value& object, std::string_view field_manager) {
  OwnNode node;
  for (auto& [key, value] : kube::LabelsOf(object)) {
    if (key.starts_with(kPrefix)) node.labels[key] = value;
  }
  node.owners = kube::OwnersOfLabels(object, field_manager);
  const json::value* allocatable = FindPath(object, {"status", "allocatable"});
  if (allocatable != nullptr && allocatable->is_object()) {
    for (const auto& entry : allocatable->get_object()) {
      if (!entry.key().starts_with(kPrefix) || !entry.value().is_string()) continue;
      const auto quantity = kube::Quantity::Parse(std::string(entry.value().get_string()));
      if (quantity) node.allocatable[std::string(entry.key())] = quantity->Value();
    }
  }
  if (const json::value* condition = kube::Condition(object, kGpuReadyCondition)) {
    NodeCondition ready;
    ready.status = TextAt(*condition, {"status"});
    ready.reason = TextAt(*condition, {"reason"});
    ready.message = TextAt(*condition, {"message"});
    node.gpu_ready = std::move(ready);
    node.gpu_ready_since = TextAt(*condition, {"lastTransitionTime"});
  }
  return node;
}

Labels LabelsToWrite(const Labels& wanted, const OwnNode* node) {
  return node == nullptr ? wanted : kube::LeaveToNfd(wanted, node->owners, node->labels);
}

bool LabelsDiffer(const Labels& wanted, const OwnNode& node) {
  for (const auto& [key, value] : wanted) {
    const auto found = node.labels.find(key);
    if (found == node.labels.end() || found->second != value) return true;
  }
  return false;
}

json::value LabelsBody(const std::string& node_name, const Labels& labels) {
  json::object body = kube::NewObject(kube::kNodes, "", node_name);
  json::object entries;
  for (const auto& [key, value] : labels) entries[key] = value;
  body["metadata"].as_object()["labels"] = std::move(entries);
  return body;
}

json::value ConditionBody(const std::string& node_name, const NodeCondition& condition,
                          const OwnNode* node, WallTime now) {
  const std::string time = ToRfc3339(now);
  const bool same = node != nullptr && node->gpu_ready &&
                    node->gpu_ready->status == condition.status && !node->gpu_ready_since.empty();
  json::object entry;
  entry["type"] = kGpuReadyCondition;
  entry["status"] = condition.status;
  entry["reason"] = condition.reason;
  entry["message"] = condition.message;
  entry["lastHeartbeatTime"] = time;
  entry["lastTransitionTime"] = same ? node->gpu_ready_since : time;
  json::object status;
  status["conditions"] = json::array{std::move(entry)};
  json::object body = kube::NewObject(kube::kNodes, "", node_name);
  body["status"] = std::move(status);
  return body;
}

}  // namespace pawl::agent
