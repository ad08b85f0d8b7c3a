#include "agent/node_link.h"

#include "base/version.h"

namespace pawl::agent {

Result<std::unique_ptr<NodeLink>> NodeLink::Create(const Executor& executor,
                                                   const kube::ClientConfig& config,
                                                   std::string node_name) {
  kube::ClientOptions options;
  options.component = "agent";
  options.version = kVersion;
  Result<std::unique_ptr<kube::Client>> client =
      kube::Client::Create(executor, config, std::move(options));
  if (!client) return Fail(client.error());
  return std::unique_ptr<NodeLink>(new NodeLink(*std::move(client), std::move(node_name)));
}

NodeLink::NodeLink(std::unique_ptr<kube::Client> client, std::string node_name)
    : client_(std::move(client)),
      node_name_(std::move(node_name)),
      nodes_([manager = client_->field_manager()](
                 const json::value& object) { return ParseOwnNode(object, manager); },
             [this](const kube::Store<OwnNode>::Change& change) {
               if (on_node) on_node(change.after);
             }),
      reflector_(*client_, kube::OneObject(kube::kNodes, "", node_name_), nodes_) {}

Task<> NodeLink::Run() { return reflector_.Run(); }

void NodeLink::Stop() {
  on_node = nullptr;
  reflector_.Stop();
}

Task<Status> NodeLink::ApplyLabels(Labels labels) {
  const json::value body = LabelsBody(node_name_, labels);
  Task<kube::Client::Object> call = client_->Apply(kube::kNodes, body);
  const kube::Client::Object applied = co_await std::move(call);
  if (!applied) co_return Fail(applied.error());
  co_return Status();
}

Task<Status> NodeLink::ApplyCondition(NodeCondition condition,
                                      std::shared_ptr<const OwnNode> node) {
  const json::value body =
      ConditionBody(node_name_, condition, node.get(), std::chrono::system_clock::now());
  kube::WriteOptions options;
  options.subresource = "status";
  Task<kube::Client::Object> call = client_->Apply(kube::kNodes, body, options);
  const kube::Client::Object applied = co_await std::move(call);
  if (!applied) co_return Fail(applied.error());
  co_return Status();
}

}  // namespace pawl::agent
