// One thing to do to the cluster, as a value: decisions make them, apply.h carries them out, `pawl
// plan` prints them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "kube/resource.h"
#include "operator/labels.h"

namespace pawl::op {

// Labels of one node, in one patch that holds only for the version that was looked at.
struct PatchNode {
  std::string node;
  std::string resource_version;
  LabelChanges labels;
};

// Server-side apply of all that we want of an object.
struct ApplyObject {
  kube::Resource resource;
  json::object object;
  std::string subresource;   // "status" or empty
  std::string live_version;  // resource version of what was looked at; empty: there was nothing
};

struct DeleteObject {
  kube::Resource resource;
  std::string ns;
  std::string name;
  std::string uid;  // that one only, should another have taken its name
};

struct Action {
  std::variant<PatchNode, ApplyObject, DeleteObject> what;
  std::string state;  // the state it belongs to, for the status when it fails; empty: the labels
  std::string why;
};

// What it is done to: "Node n1", "DaemonSet gpu-operator/x", "ClusterPolicy cluster-policy status".
std::string Subject(const Action& action);

// One line for people, and below it, indented, the labels or the object.
std::string Describe(const Action& action);

json::object ToJsonValue(const Action& action);

// {"metadata": {"resourceVersion", "labels"}}: the merge patch of a PatchNode.
json::object MergePatch(const PatchNode& patch);

}  // namespace pawl::op
