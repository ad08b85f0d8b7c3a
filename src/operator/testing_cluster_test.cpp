#include "operator/testing_cluster.h"

#include "base/yaml.h"
#include "kube/object.h"
#include "operator/names.h"

namespace pawl::op::testing_cluster {
namespace {

// Members of `changes` over those of `object`; null removes. Lists are replaced.
void Merge(json::object& object, const json::object& changes) {
  for (const auto& member : changes) {
    json::value& there = object[member.key()];
    if (member.value().is_null()) {
      object.erase(member.key());
    } else if (member.value().is_object() && there.is_object()) {
      Merge(there.as_object(), member.value().as_object());
    } else {
      there = member.value();
    }
  }
}

// Takes off `object` what `before` has and `after` has not: fields whose only owner lets go.
void TakeOff(json::object& object, const json::object& before, const json::object& after) {
  for (const auto& member : before) {
    json::value* there = object.if_contains(member.key());
    if (there == nullptr) continue;
    const json::value* kept = after.if_contains(member.key());
    if (kept == nullptr) {
      object.erase(member.key());
    } else if (there->is_object() && member.value().is_object() && kept->is_object()) {
      TakeOff(there->as_object(), member.value().as_object(), kept->as_object());
    }
  }
}

// What was applied last, kept as managedFields, one for each subresource.
void TakeOver(json::object& object, const ApplyObject& apply) {
  json::value& fields = object["metadata"].as_object()["managedFields"];
  if (fields.is_null()) fields = json::object();
  json::object& managed = fields.as_object();
  if (const json::value* before = managed.if_contains(apply.subresource)) {
    const json::object owned = before->as_object();
    TakeOff(object, owned, apply.object);
  }
  json::object& now = object["metadata"].as_object();
  now["managedFields"].as_object()[apply.subresource] = apply.object;
}

std::vector<ObjectPointer>& ObjectsOf(const kube::Resource& resource, ClusterView& view) {
  if (resource.kind == "DaemonSet") return view.daemonsets;
  if (resource.kind == "RuntimeClass") return view.runtime_classes;
  return view.policies;
}

struct Server {
  ClusterView& view;

  void operator()(const PatchNode& patch) const {
    for (auto& node : view.nodes) {
      if (node->name != patch.node) continue;
      Node changed = *node;
      changed.labels = WithChanges(changed.labels, patch.labels);
      changed.resource_version += "+";
      node = std::make_shared<const Node>(std::move(changed));
    }
  }

  void operator()(const ApplyObject& apply) const {
    std::vector<ObjectPointer>& objects = ObjectsOf(apply.resource, view);
    const std::string name = kube::Name(apply.object);
    for (ObjectPointer& object : objects) {
      if (kube::Name(*object) != name) continue;
      json::object changed = object->as_object();
      TakeOver(changed, apply);
      Merge(changed, apply.object);
      object = std::make_shared<const json::value>(std::move(changed));
      return;
    }
    json::object made = apply.object;
    TakeOver(made, apply);
    made["metadata"].as_object()["uid"] = "uid-of-" + name;
    made["metadata"].as_object()["generation"] = 1;
    objects.push_back(std::make_shared<const json::value>(std::move(made)));
  }

  void operator()(const DeleteObject& gone) const {
    std::erase_if(ObjectsOf(gone.resource, view), [&gone](const ObjectPointer& object) {
      return kube::Name(*object) == gone.name && kube::Uid(*object) == gone.uid;
    });
  }
};

}  // namespace

std::shared_ptr<const Node> MakeNode(std::string name, kube::Labels labels,
                                     GpuCondition gpu_ready) {
  Node node;
  node.name = std::move(name);
  node.resource_version = "1";
  node.labels = std::move(labels);
  node.has_nfd = !node.labels.empty();
  node.gpu_ready = std::move(gpu_ready);
  return std::make_shared<const Node>(std::move(node));
}

ObjectPointer MakePolicy(std::string_view name, std::string_view created, std::string_view spec) {
  json::object metadata;
  metadata["name"] = name;
  metadata["uid"] = "uid-of-" + std::string(name);
  metadata["creationTimestamp"] = created;
  metadata["generation"] = 1;
  json::object object = {{"apiVersion", "nvidia.com/v1"}, {"kind", "ClusterPolicy"}};
  object["metadata"] = std::move(metadata);
  object["spec"] = ParseYaml(spec).value();
  return std::make_shared<const json::value>(std::move(object));
}

void CarryOut(const Action& action, ClusterView& view) { std::visit(Server{view}, action.what); }

void CarryOut(const std::vector<Action>& actions, ClusterView& view) {
  for (const Action& action : actions) CarryOut(action, view);
}

void RollOut(ClusterView& view, int nodes) {
  for (ObjectPointer& object : view.daemonsets) {
    json::object changed = object->as_object();
    changed["status"] = json::object{{"observedGeneration", kube::Generation(*object)},
                                     {"desiredNumberScheduled", nodes},
                                     {"currentNumberScheduled", nodes},
                                     {"updatedNumberScheduled", nodes},
                                     {"numberAvailable", nodes}};
    object = std::make_shared<const json::value>(std::move(changed));
  }
}

}  // namespace pawl::op::testing_cluster
