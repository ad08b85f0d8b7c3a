// The agent's way to its own Node object: follows it, and applies labels and the condition GPUReady
// as field manager "pawl-agent". Everything that the agent does on the node works without it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/own_node.h"
#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"
#include "kube/store.h"
#include "kube/watch.h"

namespace pawl::agent {

class NodeLink {
 public:
  static Result<std::unique_ptr<NodeLink>> Create(const Executor& executor,
                                                  const kube::ClientConfig& config,
                                                  std::string node_name);
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  // Called on the loop when what we read of the Node changed; null when there is no such Node.
  std::function<void(std::shared_ptr<const OwnNode>)> on_node;

  // Follows the Node until Stop. Run it once, by Spawn; this must outlive the loop's run.
  Task<> Run();
  void Stop();

  Task<Status> ApplyLabels(Labels labels);
  Task<Status> ApplyCondition(NodeCondition condition, std::shared_ptr<const OwnNode> node);

 private:
  NodeLink(std::unique_ptr<kube::Client> client, std::string node_name);

  std::unique_ptr<kube::Client> client_;
  std::string node_name_;
  kube::Store<OwnNode> nodes_;
  kube::Reflector reflector_;
};

}  // namespace pawl::agent
