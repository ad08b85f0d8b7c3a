#include "kube/lease.h"

#include <algorithm>

#include "base/log.h"
#include "kube/object.h"
#include "kube/retry.h"

namespace pawl::kube {
namespace {

Time Now() { return std::chrono::steady_clock::now(); }
WallTime WallNow() { return std::chrono::system_clock::now(); }

int64_t Seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

int64_t NumberAt(const json::value& object, std::string_view key) {
  const json::value* number = Find(object, key);
  return number != nullptr && number->is_int64() ? number->get_int64() : 0;
}

}  // namespace

Status Validate(const LeaseOptions& options) {
  if (options.duration <= options.renew_deadline) {
    return Fail(ErrorKind::kInvalid, "leader election: lease duration must exceed the deadline");
  }
  if (options.renew_deadline <= Scale(options.retry, 1.2)) {
    return Fail(ErrorKind::kInvalid, "leader election: the deadline must exceed 1.2 retry periods");
  }
  return {};
}

void LeaseView::Observe(const json::value& lease, Time now) {
  exists_ = true;
  const json::value* spec = Find(lease, "spec");
  const json::value fields = spec == nullptr ? json::value(json::object()) : *spec;
  std::string record = ToJson(fields);
  if (record == record_) return;
  record_ = std::move(record);
  seen_ = now;
  holder_ = TextAt(fields, {"holderIdentity"});
  acquire_time_ = TextAt(fields, {"acquireTime"});
  transitions_ = NumberAt(fields, "leaseTransitions");
  duration_ = std::chrono::seconds(NumberAt(fields, "leaseDurationSeconds"));
}

bool LeaseView::MayTake(Time now) const {
  if (!exists_ || holder_.empty() || IsOurs()) return true;
  return seen_ + duration_ <= now;
}

json::object LeaseView::NextSpec(WallTime now, Duration duration) const {
  json::object spec;
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = Seconds(duration);
  const std::string text = ToRfc3339Micro(now);
  spec["acquireTime"] = exists_ && IsOurs() && !acquire_time_.empty() ? acquire_time_ : text;
  spec["renewTime"] = text;
  spec["leaseTransitions"] = exists_ && !IsOurs() ? transitions_ + 1 : transitions_;
  return spec;
}

json::object LeaseView::ReleasedSpec(WallTime now) const {
  json::object spec;
  const std::string text = ToRfc3339Micro(now);
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["acquireTime"] = text;
  spec["renewTime"] = text;
  spec["leaseTransitions"] = transitions_;
  return spec;
}

LeaderElection::LeaderElection(const Executor& executor, Client& client, LeaseOptions options)
    : client_(client),
      options_(std::move(options)),
      view_(options_.identity),
      wake_(executor),
      idle_(executor) {}

void LeaderElection::Stop() {
  stopping_ = true;
  wake_.Notify();
}

// 1 to 2.2 retry times, so that candidates do not march in step.
Task<> LeaderElection::Pause() {
  const double spread = leading_ ? 0.0 : 1.2 * client_.Random();
  co_await wake_.WaitFor(Scale(options_.retry, (1.0 + spread) * client_.waiting().pace));
}

CallOptions LeaderElection::Call() const {
  CallOptions call;
  call.deadline = std::max<Duration>(1s, options_.renew_deadline / 2);
  call.retry = false;
  return call;
}

Task<Status> LeaderElection::Read() {
  const CallOptions call = Call();
  Result<json::value> lease = co_await client_.Get(kLeases, options_.ns, options_.name, call);
  if (!lease && lease.error().kind() == ErrorKind::kNotFound) {
    lease_ = nullptr;
    view_ = LeaseView(options_.identity);
    co_return Status();
  }
  if (!lease) co_return Fail(lease.error());
  lease_ = WithoutManagedFields(*lease);
  view_.Observe(lease_, Now());
  co_return Status();
}

// Writes `spec` over what was read last: the resourceVersion makes a stale write a conflict.
Task<Status> LeaderElection::Write(json::object spec) {
  WriteOptions options;
  static_cast<CallOptions&>(options) = Call();
  const bool fresh = lease_.is_null();
  json::value body = fresh ? json::value(NewObject(kLeases, options_.ns, options_.name)) : lease_;
  body.get_object()["spec"] = std::move(spec);
  Result<json::value> written = json::value();
  if (fresh) {
    written = co_await client_.Create(kLeases, body, options);
  } else {
    written = co_await client_.Replace(kLeases, body, options);
  }
  if (!written) co_return Fail(written.error());
  lease_ = WithoutManagedFields(*written);
  view_.Observe(lease_, Now());
  co_return Status();
}

// One round: the leader writes at once; everybody else, and a leader whose write failed, reads
// first. After Stop it writes no more.
Task<Status> LeaderElection::Try() {
  if (leading_) {
    json::object spec = view_.NextSpec(WallNow(), options_.duration);
    const Status renewed = co_await Write(std::move(spec));
    if (renewed || stopping_) co_return renewed;
  }
  const Status read = co_await Read();
  if (!read) co_return read;
  if (stopping_) co_return Fail(ErrorKind::kCancelled, "stopped");
  if (!view_.MayTake(Now())) {
    co_return Fail(ErrorKind::kConflict, "the lease is held by " + view_.holder());
  }
  json::object spec = view_.NextSpec(WallNow(), options_.duration);
  co_return co_await Write(std::move(spec));
}

Task<Status> LeaderElection::Acquire() {
  busy_ = true;
  Status acquired = co_await AcquireInTurn();
  busy_ = false;
  idle_.Notify();
  co_return acquired;
}

Task<Status> LeaderElection::AcquireInTurn() {
  std::string told;
  while (!stopping_) {
    const Status tried = co_await Try();
    if (tried) leading_ = true;  // also when stopped meanwhile: Release has something to let go
    if (stopping_) break;
    if (tried) {
      last_renewal_ = Now();
      log::Info("leading", {{"lease", options_.ns + "/" + options_.name}});
      co_return tried;
    }
    if (tried.error().message() != told) {
      told = tried.error().message();
      log::Info("waiting for the lease", {{"reason", told}});
    }
    co_await Pause();
  }
  co_return Fail(ErrorKind::kCancelled, "stopped while waiting for the lease");
}

Task<Error> LeaderElection::Hold() {
  busy_ = true;
  Error why = co_await HoldInTurn();
  busy_ = false;
  idle_.Notify();
  co_return why;
}

Task<Error> LeaderElection::HoldInTurn() {
  while (!stopping_) {
    co_await Pause();
    if (stopping_) break;
    const Status renewed = co_await Try();
    if (renewed) {
      last_renewal_ = Now();
      continue;
    }
    if (stopping_) break;
    const bool taken = renewed.error().kind() == ErrorKind::kConflict && !view_.IsOurs();
    if (taken || Now() - last_renewal_ >= options_.renew_deadline) {
      leading_ = false;
      co_return Error(ErrorKind::kUnavailable, "the lease is lost: " + renewed.error().message());
    }
  }
  co_return Error(ErrorKind::kCancelled, "stopped");
}

// A renewal that is under way would take the lease again after us.
Task<> LeaderElection::Release() {
  Stop();
  while (busy_) co_await idle_.Wait();
  if (!leading_) co_return;
  leading_ = false;
  if (!view_.IsOurs()) co_return;
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    json::object spec = view_.ReleasedSpec(WallNow());
    const Status written = co_await Write(std::move(spec));
    if (written) co_return;
    if (written.error().kind() != ErrorKind::kConflict) {
      log::Warning("the lease is not released, others wait for its end",
                   {{"error", written.error()}});
      co_return;
    }
    const Status read = co_await Read();
    if (!read || !view_.IsOurs()) co_return;
  }
}

}  // namespace pawl::kube
