#include "operator/apply.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/log.h"
#include "kube/object.h"

namespace pawl::op {
namespace {

// Requests in flight. Each has a connection of its own, and the first of each a TLS handshake.
constexpr size_t kAtOnce = 4;

}  // namespace

Task<Applier::Report> Applier::CarryOut(std::vector<Action> actions) {
  const Executor executor = co_await asio::this_coro::executor;
  actions_ = std::move(actions);
  next_ = 0;
  report_ = Report();
  const size_t workers = std::min(kAtOnce, actions_.size());
  working_ = workers;
  for (size_t i = 0; i < workers; ++i) Spawn(executor, "apply", Work());
  while (working_ > 0) co_await done_.Wait();
  actions_.clear();
  co_return std::move(report_);
}

Task<> Applier::Work() {
  while (next_ < actions_.size()) {
    const Action& action = actions_[next_++];
    const Status status = co_await Do(action);
    const std::string subject = Subject(action);
    if (status) {
      warned_.erase(subject);
      continue;
    }
    const ErrorKind kind = status.error().kind();
    report_.again = true;
    // Somebody changed it since we looked; the watch brings the new state.
    if (kind == ErrorKind::kConflict) continue;
    // Once for each trouble, not for each try.
    std::string& warned = warned_[subject];
    if (warned != status.error().message()) {
      warned = status.error().message();
      log::Warning("an action failed; it is tried again",
                   {{"subject", subject}, {"error", status.error()}});
    }
    report_.failures[subject] = Failure{action.state, status.error().message()};
  }
  if (--working_ == 0) done_.Notify();
}

Task<Status> Applier::Do(const Action& action) {
  const std::string subject = Subject(action);
  Status status;
  if (const auto* patch = std::get_if<PatchNode>(&action.what)) {
    status = co_await DoPatch(*patch);
  } else if (const auto* apply = std::get_if<ApplyObject>(&action.what)) {
    status = co_await DoApply(*apply, subject);
  } else {
    status = co_await DoDelete(std::get<DeleteObject>(action.what));
  }
  if (status) log::Info("done", {{"subject", subject}, {"why", action.why}});
  co_return status;
}

Task<Status> Applier::DoPatch(const PatchNode& patch) {
  const json::value body = MergePatch(patch);
  const kube::WriteOptions options;
  const Result<json::value> node =
      co_await client_.Patch(kube::kNodes, "", patch.node, kube::PatchType::kMerge, body, options);
  if (!node) {
    if (node.error().kind() == ErrorKind::kNotFound) co_return Status();
    co_return Fail(node.error());
  }
  changed_(kube::kNodes, *node);
  co_return Status();
}

Task<Status> Applier::DoApply(const ApplyObject& apply, const std::string& subject) {
  const std::string wanted = ToJson(apply.object);
  const auto known = unsettled_.find(subject);
  if (known != unsettled_.end()) {
    if (known->second.wanted == wanted && known->second.version == apply.live_version) {
      co_return Status();
    }
    unsettled_.erase(known);
  }
  kube::WriteOptions options;
  options.subresource = apply.subresource;
  const json::value body = apply.object;
  const Result<json::value> live = co_await client_.Apply(apply.resource, body, options);
  if (!live) co_return Fail(live.error());
  changed_(apply.resource, *live);
  if (!kube::IsSubset(body, *live)) {
    log::Warning("the API server keeps an object otherwise than we applied it",
                 {{"subject", subject}});
    unsettled_[subject] = Refusal{wanted, kube::ResourceVersion(*live)};
  }
  co_return Status();
}

Task<Status> Applier::DoDelete(const DeleteObject& gone) {
  kube::DeleteOptions options;
  options.uid = gone.uid;
  const Status status = co_await client_.Delete(gone.resource, gone.ns, gone.name, options);
  if (!status && status.error().kind() != ErrorKind::kNotFound) co_return Fail(status.error());
  co_return Status();
}

}  // namespace pawl::op
