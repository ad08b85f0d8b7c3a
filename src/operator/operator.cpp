#include "operator/operator.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "kube/object.h"
#include "operator/decide.h"
#include "operator/names.h"

namespace pawl::op {
namespace {

// Between passes while something is refused (spec/operator.md §1).
constexpr Duration kFirstPause = 100ms;
constexpr Duration kLongestPause = 3s;
constexpr Duration kLongestGoodbye = 2s;  // for requests under way when we are asked to stop

kube::WatchTarget Everything(const kube::Resource& resource, std::string ns = "") {
  kube::WatchTarget target;
  target.resource = resource;
  target.ns = std::move(ns);
  return target;
}

HttpServer::Answer Verdict(bool good) {
  HttpServer::Answer answer;
  answer.code = good ? 200 : 503;
  answer.body = good ? "ok\n" : "not ok\n";
  return answer;
}

}  // namespace

Operator::Operator(const Executor& executor, kube::Client& client, OperatorOptions options)
    : executor_(executor),
      options_(std::move(options)),
      wake_(executor),
      stop_(executor),
      work_ended_(executor),
      nodes_(ParseNode,
             [this](const kube::Store<Node>::Change& change) {
               // kubelet's heartbeats change nothing that decisions read.
               const bool matters = change.before == nullptr || change.after == nullptr ||
                                    DiffersForDecisions(*change.before, *change.after);
               if (matters) wake_.Notify();
             }),
      policies_(kube::KeepWhole, [this](const auto&) { wake_.Notify(); }),
      daemonsets_(kube::KeepWhole, [this](const auto&) { wake_.Notify(); }),
      runtime_classes_(kube::KeepWhole, [this](const auto&) { wake_.Notify(); }),
      node_watch_(client, Everything(kube::kNodes), nodes_),
      policy_watch_(client, Everything(kClusterPolicies), policies_),
      daemonset_watch_(client, Everything(kube::kDaemonSets, options_.ns), daemonsets_),
      runtime_class_watch_(client, Everything(kube::kRuntimeClasses), runtime_classes_),
      election_(executor, client, options_.lease),
      applier_(executor, client,
               [this](const kube::Resource& resource, const json::value& object) {
                 TakeAnswer(resource, object);
               }),
      metrics_server_(executor),
      health_server_(executor) {
  nodes_.SetOnSynced([this] { wake_.Notify(); });
  policies_.SetOnSynced([this] { wake_.Notify(); });
  daemonsets_.SetOnSynced([this] { wake_.Notify(); });
  runtime_classes_.SetOnSynced([this] { wake_.Notify(); });
}

Task<Status> Operator::Run() {
  Status serving = Serve();
  if (!serving) co_return serving;
  Spawn(executor_, "watch nodes", node_watch_.Run());
  Spawn(executor_, "watch clusterpolicies", policy_watch_.Run());
  Spawn(executor_, "watch daemonsets", daemonset_watch_.Run());
  Spawn(executor_, "watch runtimeclasses", runtime_class_watch_.Run());
  if (options_.leader_elect) {
    Spawn(executor_, "lease", KeepLease());
  } else {
    leading_ = true;
  }
  Spawn(executor_, "work", WorkUntilStopped());
  co_await stop_.Wait();
  // Without the lease nothing may be written any more, so what is under way is not waited for.
  if (!end_) co_return end_;
  co_await work_ended_.WaitFor(kLongestGoodbye);
  if (options_.leader_elect) co_await election_.Release();
  co_return Status();
}

void Operator::Stop() {
  stopping_ = true;
  election_.Stop();
  for (kube::Reflector* watch :
       {&node_watch_, &policy_watch_, &daemonset_watch_, &runtime_class_watch_}) {
    watch->Stop();
  }
  metrics_server_.Stop();
  health_server_.Stop();
  wake_.Notify();
  stop_.Notify();
}

Status Operator::Serve() {
  metrics_server_.Handle("/metrics", [this] {
    HttpServer::Answer answer;
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    answer.body = Render(metrics_);
    return answer;
  });
  health_server_.Handle("/healthz", [this] { return Verdict(Healthy()); });
  health_server_.Handle("/readyz", [this] { return Verdict(Synced()); });
  Status listening = metrics_server_.Listen(options_.metrics_address);
  if (!listening) return listening;
  return health_server_.Listen(options_.health_address);
}

Task<> Operator::KeepLease() {
  const Status acquired = co_await election_.Acquire();
  if (!acquired) {
    if (!stopping_) end_ = acquired;
    Stop();
    co_return;
  }
  leading_ = true;
  wake_.Notify();
  const Error why = co_await election_.Hold();
  leading_ = false;
  if (why.kind() != ErrorKind::kCancelled) end_ = Fail(why.With("the lease is lost"));
  Stop();
}

Task<> Operator::WorkUntilStopped() {
  while (!stopping_) {
    if (leading_ && Synced()) co_await Reconcile();
    // A pause is not cut short by changes: what is refused now will be refused then.
    const Time again = std::chrono::steady_clock::now() + pause_;
    const bool pausing = pause_ > Duration::zero();
    while (pausing && !stopping_ && std::chrono::steady_clock::now() < again) {
      co_await wake_.WaitFor(again - std::chrono::steady_clock::now());
    }
    if (!pausing && !stopping_) co_await wake_.Wait();
  }
  work_ended_.Notify();
}

Task<> Operator::Reconcile() {
  Decision decision = Decide(Look());
  Applier::Report report = co_await applier_.CarryOut(std::move(decision.actions));
  pause_ = report.again ? std::clamp(pause_ * 2, kFirstPause, kLongestPause) : Duration::zero();
  failures_ = std::move(report.failures);
  if (!report.again && !std::exchange(settled_, true)) ReleaseStartupMemory();
  metrics_.summary = decision.summary;
  ++metrics_.reconciliations;
  if (!failures_.empty() || decision.summary.reconciliation_status == 0) {
    ++metrics_.failed_reconciliations;
  } else if (decision.summary.reconciliation_status == 1) {
    metrics_.last_success = std::chrono::duration_cast<std::chrono::seconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count();
  }
}

ClusterView Operator::Look() const {
  ClusterView view;
  view.now = std::chrono::system_clock::now();
  view.ns = options_.ns;
  view.agent_image = options_.agent_image;
  view.nodes = nodes_.Snapshot();
  view.policies = policies_.Snapshot();
  view.daemonsets = daemonsets_.Snapshot();
  view.runtime_classes = runtime_classes_.Snapshot();
  view.failures = failures_;
  return view;
}

bool Operator::Synced() const {
  return nodes_.synced() && policies_.synced() && daemonsets_.synced() && runtime_classes_.synced();
}

bool Operator::Healthy() const {
  if (!leading_ || !options_.leader_elect) return true;
  return std::chrono::steady_clock::now() - election_.last_renewal() <= options_.lease.duration;
}

// The answer to our own write is mostly ahead of the watch; where it is not, the store ignores it.
void Operator::TakeAnswer(const kube::Resource& resource, const json::value& object) {
  if (resource.kind == kube::kNodes.kind) nodes_.TakeAnswer(object);
  if (resource.kind == kClusterPolicies.kind) policies_.TakeAnswer(object);
  if (resource.kind == kube::kDaemonSets.kind) daemonsets_.TakeAnswer(object);
  if (resource.kind == kube::kRuntimeClasses.kind) runtime_classes_.TakeAnswer(object);
}

}  // namespace pawl::op
