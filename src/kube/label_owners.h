// Whose the labels of a Node are, where we and Node Feature Discovery both write some. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"

namespace pawl::kube {

inline constexpr std::string_view kNfdPrefix = "feature.node.kubernetes.io/";

struct LabelOwners {
  std::set<std::string> nfd;   // keys that Node Feature Discovery has listed as its own
  std::set<std::string> ours;  // keys that we have applied
  bool operator==(const LabelOwners&) const = default;
};

// From a Node with its managedFields. `field_manager` is ours.
LabelOwners OwnersOfLabels(const json::value& node, std::string_view field_manager);

// What to apply of `wanted`: a label that Node Feature Discovery owns is left to it
// (spec/feature-discovery.md §11.6). One that is ours already stays in what we apply, with the value
// that it has in `live`: left out, it would be taken off the node, for its claim does not make Node
// Feature Discovery an owner in the API server's eyes.
std::map<std::string, std::string> LeaveToNfd(std::map<std::string, std::string> wanted,
                                              const LabelOwners& owners,
                                              const std::map<std::string, std::string>& live);

}  // namespace pawl::kube
