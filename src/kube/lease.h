// Leader election by a Lease (spec/kubernetes-client.md §6): one replica works, the others wait.
//
//   co_await election.Acquire();            // waits until we lead
//   … start the work …
//   Error why = co_await election.Hold();   // renews until the lease is lost or Stop
//   … stop the work; unless it was Stop, exit at once …
//   co_await election.Release();            // the next one need not wait
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"

namespace pawl::kube {

struct LeaseOptions {
  std::string ns;
  std::string name;
  std::string identity;           // "hostname_uuid", differs between processes
  Duration duration = 15s;        // for how long others believe in us
  Duration renew_deadline = 10s;  // without a success for so long we stop believing it ourselves
  Duration retry = 2s;
};

// kInvalid unless duration > renew_deadline > 1.2 · retry.
Status Validate(const LeaseOptions& options);

// Who may take a lease. Pure: feed it the Lease as read and the local monotonic time. It never
// compares the lease's own times with a clock: a record counts from when we first saw it.
class LeaseView {
 public:
  explicit LeaseView(std::string identity) : identity_(std::move(identity)) {}

  void Observe(const json::value& lease, Time now);

  // Ours, nobody's, or unrenewed for its whole duration since we first saw it so.
  bool MayTake(Time now) const;
  bool IsOurs() const { return holder_ == identity_; }
  const std::string& holder() const { return holder_; }

  // The spec to write: ours, renewed at `now`; a taker counts a transition.
  json::object NextSpec(WallTime now, Duration duration) const;
  // The spec that lets go: no holder, one second, the same transitions.
  json::object ReleasedSpec(WallTime now) const;

 private:
  std::string identity_;
  std::string holder_;
  std::string record_;  // the spec as text, to see a change
  std::string acquire_time_;
  int64_t transitions_ = 0;
  Duration duration_{};
  Time seen_{};
  bool exists_ = false;
};

class LeaderElection {
 public:
  LeaderElection(const Executor& executor, Client& client, LeaseOptions options);

  Task<Status> Acquire();  // kCancelled after Stop
  Task<Error> Hold();      // kUnavailable: lost; kCancelled: Stop
  Task<> Release();        // stops, waits for what is under way, then lets go as well as it can
  void Stop();

  bool leading() const { return leading_; }
  Time last_renewal() const { return last_renewal_; }

 private:
  Task<Status> AcquireInTurn();
  Task<Error> HoldInTurn();
  Task<Status> Try();
  Task<Status> Write(json::object spec);
  Task<Status> Read();
  Task<> Pause();
  CallOptions Call() const;

  Client& client_;
  LeaseOptions options_;
  LeaseView view_;
  json::value lease_;  // as last read or written
  Event wake_;
  Event idle_;         // Acquire or Hold has ended
  bool busy_ = false;  // one of them runs
  bool stopping_ = false;
  bool leading_ = false;
  Time last_renewal_{};
};

}  // namespace pawl::kube
