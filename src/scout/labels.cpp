#include "scout/labels.h"

#include <algorithm>
#include <utility>

#include "kube/object.h"

namespace pawl::scout {
namespace {

constexpr std::string_view kVendorPrefix = "nvidia.com/";

bool IsOf(const Source& source, std::string_view key) {
  return std::any_of(source.prefixes.begin(), source.prefixes.end(),
                     [key](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

Result<OwnNode> ParseOwnNode(const json::value& object, std::string_view field_manager) {
  OwnNode node;
  for (const auto& [key, value] : kube::LabelsOf(object)) {
    if (key.starts_with(kube::kNfdPrefix) || key.starts_with(kVendorPrefix)) {
      node.labels.emplace(key, value);
    }
  }
  node.owners = kube::OwnersOfLabels(object, field_manager);
  return node;
}

Labels WantedLabels(const std::vector<Source>& sources, const OwnNode& node) {
  Labels wanted;
  for (const Source& source : sources) {
    if (source.labels) {
      wanted.insert(source.labels->begin(), source.labels->end());
      continue;
    }
    for (const std::string& key : node.owners.ours) {
      const auto live = node.labels.find(key);
      if (IsOf(source, key) && live != node.labels.end()) wanted.insert(*live);
    }
  }
  return kube::LeaveToNfd(std::move(wanted), node.owners, node.labels);
}

bool AreThere(const Labels& wanted, const OwnNode& node) {
  if (wanted.size() != node.owners.ours.size()) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&node](const auto& label) {
    const auto live = node.labels.find(label.first);
    return node.owners.ours.contains(label.first) && live != node.labels.end() &&
           live->second == label.second;
  });
}

}  // namespace pawl::scout
