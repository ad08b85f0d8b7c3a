#include "kube/label_owners.h"

#include <utility>

#include "base/text.h"
#include "kube/object.h"

namespace pawl::kube {
namespace {

constexpr std::string_view kNfdAnnotation = "nfd.node.kubernetes.io/feature-labels";

// The annotation leaves the default prefix out (spec/feature-discovery.md §11.5).
std::set<std::string> NfdKeys(const json::value& node) {
  std::set<std::string> keys;
  for (const std::string& name : Split(Annotation(node, kNfdAnnotation).value_or(""), ',')) {
    const std::string key(Trim(name));
    if (key.empty()) continue;
    keys.insert(key.find('/') == std::string::npos ? std::string(kNfdPrefix) + key : key);
  }
  return keys;
}

// From managedFields: {"f:metadata": {"f:labels": {"f:KEY": {}}}} of our own apply.
std::set<std::string> AppliedKeys(const json::value& node, std::string_view field_manager) {
  std::set<std::string> keys;
  const json::value* entries = FindPath(node, {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return keys;
  for (const json::value& entry : entries->get_array()) {
    if (TextAt(entry, {"manager"}) != field_manager || TextAt(entry, {"operation"}) != "Apply") {
      continue;
    }
    const json::value* labels = FindPath(entry, {"fieldsV1", "f:metadata", "f:labels"});
    if (labels == nullptr || !labels->is_object()) continue;
    for (const auto& member : labels->get_object()) {
      const std::string_view key(member.key().data(), member.key().size());
      if (key.starts_with("f:")) keys.emplace(key.substr(2));
    }
  }
  return keys;
}

}  // namespace

LabelOwners OwnersOfLabels(const json::value& node, std::string_view field_manager) {
  return {NfdKeys(node), AppliedKeys(node, field_manager)};
}

std::map<std::string, std::string> LeaveToNfd(std::map<std::string, std::string> wanted,
                                              const LabelOwners& owners,
                                              const std::map<std::string, std::string>& live) {
  for (auto label = wanted.begin(); label != wanted.end();) {
    if (!owners.nfd.contains(label->first)) {
      ++label;
      continue;
    }
    const auto there = live.find(label->first);
    if (owners.ours.contains(label->first) && there != live.end()) {
      label->second = there->second;
      ++label;
    } else {
      label = wanted.erase(label);
    }
  }
  return wanted;
}

}  // namespace pawl::kube
