#include "agent/own_node.h"

#include "base/text.h"
#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/resource.h"

namespace pawl::agent {
namespace {

constexpr std::string_view kPrefix = "nvidia.com/";
constexpr std::string_view kNfdAnnotation = "nfd.node.kubernetes.io/feature-labels";
constexpr std::string_view kNfdPrefix = "feature.node.kubernetes.io/";

// NFD lists its labels without its own prefix (spec/feature-discovery.md §11.5).
std::set<std::string> NfdLabels(const json::value& object) {
  std::set<std::string> keys;
  const std::optional<std::string> list = kube::Annotation(object, kNfdAnnotation);
  if (!list) return keys;
  for (const std::string& part : Split(*list, ',')) {
    const std::string key(Trim(part));
    if (key.empty()) continue;
    keys.insert(key.find('/') == std::string::npos ? std::string(kNfdPrefix) + key : key);
  }
  return keys;
}

}  // namespace

Result<OwnNode> ParseOwnNode(const json::value& object) {
  OwnNode node;
  for (auto& [key, value] : kube::LabelsOf(object)) {
    if (key.starts_with(kPrefix)) node.labels[key] = value;
  }
  node.nfd_labels = NfdLabels(object);
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
  if (node == nullptr || node->nfd_labels.empty()) return wanted;
  Labels ours;
  for (const auto& [key, value] : wanted) {
    if (!node->nfd_labels.contains(key)) ours[key] = value;
  }
  return ours;
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
