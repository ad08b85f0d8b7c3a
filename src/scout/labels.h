// Which labels the scout writes onto its node: those of spec/feature-discovery.md §11. Pure.
//
// Two rules make it harmless. A label never goes because something could not be read, only because
// it was read and is gone: losing pci-10de.present takes the GPU stack off the node. And what Node
// Feature Discovery owns is left to it, without taking it off the node (kube/label_owners.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kube/label_owners.h"

namespace pawl::scout {

using Labels = std::map<std::string, std::string>;

// What one part of the machine says; nothing where it could not be read.
struct Source {
  std::vector<std::string_view> prefixes;  // of all labels it can ever give
  std::optional<Labels> labels;
};

// Our Node object, as far as it matters here.
struct OwnNode {
  Labels labels;  // of feature.node.kubernetes.io/ and nvidia.com/
  kube::LabelOwners owners;
  bool operator==(const OwnNode&) const = default;
};

Result<OwnNode> ParseOwnNode(const json::value& object, std::string_view field_manager);

// All labels that should be ours now.
Labels WantedLabels(const std::vector<Source>& sources, const OwnNode& node);

// Whether the node already is as wanted.
bool AreThere(const Labels& wanted, const OwnNode& node);

}  // namespace pawl::scout
