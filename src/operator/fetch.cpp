#include "operator/fetch.h"

#include <utility>

#include "kube/object.h"
#include "operator/names.h"

namespace pawl::op {
namespace {

Task<Status> FetchWhole(kube::Client& client, kube::Resource resource, std::string ns,
                        std::vector<ObjectPointer>& objects) {
  const kube::ListOptions options;
  const Result<std::vector<json::value>> list = co_await client.List(resource, ns, options);
  if (!list) co_return Fail(list.error());
  for (const json::value& object : *list) {
    objects.push_back(std::make_shared<const json::value>(kube::WithoutManagedFields(object)));
  }
  co_return Status();
}

Task<Status> FetchNodes(kube::Client& client, std::vector<std::shared_ptr<const Node>>& nodes) {
  const kube::ListOptions options;
  const Result<std::vector<json::value>> list = co_await client.List(kube::kNodes, "", options);
  if (!list) co_return Fail(list.error());
  for (const json::value& object : *list) {
    Result<Node> node = ParseNode(object);
    if (node) nodes.push_back(std::make_shared<const Node>(std::move(*node)));
  }
  co_return Status();
}

std::string AgentImageOf(const json::value& deployment) {
  const json::value* containers = FindPath(deployment, {"spec", "template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return "";
  for (const json::value& container : containers->get_array()) {
    const json::value* env = Find(container, "env");
    if (env == nullptr || !env->is_array()) continue;
    for (const json::value& variable : env->get_array()) {
      if (TextAt(variable, {"name"}) == "VALIDATOR_IMAGE") return TextAt(variable, {"value"});
    }
  }
  return "";
}

}  // namespace

Task<Result<ClusterView>> FetchView(kube::Client& client, std::string ns, std::string agent_image) {
  ClusterView view;
  view.now = std::chrono::system_clock::now();
  view.ns = ns;
  view.agent_image = std::move(agent_image);
  Status status = co_await FetchNodes(client, view.nodes);
  if (status) status = co_await FetchWhole(client, kClusterPolicies, "", view.policies);
  if (status) status = co_await FetchWhole(client, kube::kDaemonSets, ns, view.daemonsets);
  if (status) status = co_await FetchWhole(client, kube::kRuntimeClasses, "", view.runtime_classes);
  if (!status) co_return Fail(status.error());
  if (view.agent_image.empty()) {
    const Result<json::value> deployment =
        co_await client.Get(kube::kDeployments, ns, "gpu-operator");
    if (deployment) view.agent_image = AgentImageOf(*deployment);
  }
  co_return view;
}

}  // namespace pawl::op
