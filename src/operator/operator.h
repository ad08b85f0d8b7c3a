// The operator as a running thing: watches feed stores, a pass over a snapshot decides, the actions
// are carried out, and then it waits for the next change. Nothing polls.
#pragma once

#include <string>

#include "base/http_server.h"
#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"
#include "kube/lease.h"
#include "kube/store.h"
#include "kube/watch.h"
#include "operator/apply.h"
#include "operator/metrics.h"
#include "operator/view.h"

namespace pawl::op {

struct OperatorOptions {
  std::string ns;           // our own namespace
  std::string agent_image;  // VALIDATOR_IMAGE
  std::string metrics_address = ":8080";
  std::string health_address = ":8081";
  bool leader_elect = false;
  kube::LeaseOptions lease;  // where leader_elect
};

class Operator {
 public:
  // `client` must outlive it, and it the loop's run.
  Operator(const Executor& executor, kube::Client& client, OperatorOptions options);

  // Runs until Stop, or until the lease is lost, which is an error: end the process then.
  Task<Status> Run();
  void Stop();

 private:
  enum class Kind { kNodes, kPolicies, kDaemonSets, kRuntimeClasses };

  Status Serve();
  Task<> KeepLease();
  Task<> WorkUntilStopped();
  Task<> Reconcile();
  ClusterView Look() const;
  bool Synced() const;
  bool Healthy() const;
  void TakeAnswer(const kube::Resource& resource, const json::value& object);

  Executor executor_;
  OperatorOptions options_;
  Event wake_;  // something changed
  Event stop_;
  Event work_ended_;

  kube::Store<Node> nodes_;
  kube::Store<json::value> policies_;
  kube::Store<json::value> daemonsets_;
  kube::Store<json::value> runtime_classes_;
  kube::Reflector node_watch_;
  kube::Reflector policy_watch_;
  kube::Reflector daemonset_watch_;
  kube::Reflector runtime_class_watch_;

  kube::LeaderElection election_;
  Applier applier_;
  HttpServer metrics_server_;
  HttpServer health_server_;

  Metrics metrics_;
  std::map<std::string, Failure> failures_;
  Duration pause_{};  // before a failed pass is repeated; zero: the last one was good
  bool leading_ = false;
  bool settled_ = false;  // has had a whole pass
  bool stopping_ = false;
  Status end_;
};

}  // namespace pawl::op
