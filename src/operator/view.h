// All that decisions may look at, as one immutable value: a snapshot of the stores copies pointers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "kube/resource.h"
#include "operator/node.h"

namespace pawl::op {

using ObjectPointer = std::shared_ptr<const json::value>;

// An action that failed and was not repeated with success since.
struct Failure {
  std::string state;    // whose objects it was about, as kState…
  std::string message;  // what the API server said
};

struct ClusterView {
  WallTime now;
  std::string ns;           // the operator's own namespace
  std::string agent_image;  // what runs where the ClusterPolicy names no image: VALIDATOR_IMAGE

  std::vector<std::shared_ptr<const Node>> nodes;  // by name
  std::vector<ObjectPointer> policies;             // ClusterPolicies, whole
  std::vector<ObjectPointer> daemonsets;           // of `ns`, whole
  std::vector<ObjectPointer> runtime_classes;      // whole
  std::map<std::string, Failure> failures;         // by the action's subject
};

// The object of this name, or null.
ObjectPointer FindByName(const std::vector<ObjectPointer>& objects, std::string_view name);

// The ClusterPolicy that counts: the oldest, of equals the first by name (spec/operator.md §2).
// Null without any.
ObjectPointer ActivePolicy(const std::vector<ObjectPointer>& policies);

}  // namespace pawl::op
