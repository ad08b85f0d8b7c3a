#include "scout/labels.h"

#include <algorithm>

#include "base/text.h"
#include "kube/object.h"

namespace pawl::scout {
namespace {

constexpr std::string_view kFeaturePrefix = "feature.node.kubernetes.io/";
constexpr std::string_view kVendorPrefix = "nvidia.com/";
constexpr std::string_view kNfdOwned = "nfd.node.kubernetes.io/feature-labels";

// The annotation leaves the default prefix out (§11.5).
std::set<std::string> NfdOwned(const json::value& object) {
  std::set<std::string> keys;
  for (const std::string& name : Split(kube::Annotation(object, kNfdOwned).value_or(""), ',')) {
    const std::string_view key = Trim(name);
    if (key.empty()) continue;
    const bool bare = key.find('/') == std::string_view::npos;
    keys.insert(bare ? std::string(kFeaturePrefix) + std::string(key) : std::string(key));
  }
  return keys;
}

// From managedFields: {"f:metadata": {"f:labels": {"f:KEY": {}}}} of our own apply.
std::set<std::string> Applied(const json::value& object, std::string_view field_manager) {
  std::set<std::string> keys;
  const json::value* entries = FindPath(object, {"metadata", "managedFields"});
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

bool IsOf(const Source& source, std::string_view key) {
  return std::any_of(source.prefixes.begin(), source.prefixes.end(),
                     [key](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

Result<OwnNode> ParseOwnNode(const json::value& object, std::string_view field_manager) {
  OwnNode node;
  for (const auto& [key, value] : kube::LabelsOf(object)) {
    if (key.starts_with(kFeaturePrefix) || key.starts_with(kVendorPrefix)) {
      node.labels.emplace(key, value);
    }
  }
  node.nfd_owned = NfdOwned(object);
  node.ours = Applied(object, field_manager);
  return node;
}

Labels WantedLabels(const std::vector<Source>& sources, const OwnNode& node) {
  Labels wanted;
  for (const Source& source : sources) {
    if (source.labels) {
      wanted.insert(source.labels->begin(), source.labels->end());
      continue;
    }
    for (const std::string& key : node.ours) {
      const auto live = node.labels.find(key);
      if (IsOf(source, key) && live != node.labels.end()) wanted.insert(*live);
    }
  }
  std::erase_if(wanted,
                [&node](const auto& label) { return node.nfd_owned.contains(label.first); });
  return wanted;
}

bool AreThere(const Labels& wanted, const OwnNode& node) {
  if (wanted.size() != node.ours.size()) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&node](const auto& label) {
    const auto live = node.labels.find(label.first);
    return node.ours.contains(label.first) && live != node.labels.end() &&
           live->second == label.second;
  });
}

}  // namespace pawl::scout
