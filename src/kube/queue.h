// The work queue of a controller (spec/kubernetes-client.md §5): keys to look at again, each at
// most once in line, never in two hands at once. For tasks of one event loop.
//
//   while (std::optional<std::string> key = co_await queue.Get()) {
//     Status done = co_await Reconcile(*key);
//     if (done) queue.Forget(*key); else queue.AddRateLimited(*key);
//     queue.Done(*key);
//   }
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/task.h"

namespace pawl::kube {

// The line itself, without a loop. Pure.
class WorkLine {
 public:
  void Add(const std::string& key);  // nothing if it is in line; after Done if it is in a hand
  std::optional<std::string> Take();
  void Done(const std::string& key);
  size_t size() const { return line_.size(); }

 private:
  std::deque<std::string> line_;
  std::set<std::string> dirty_;
  std::set<std::string> processing_;
};

// 5 ms · 2^failures, at most 1000 s, for each key by itself. Pure.
class FailureBackoff {
 public:
  Duration Next(const std::string& key);  // counts a failure
  void Forget(const std::string& key) { failures_.erase(key); }
  int failures(const std::string& key) const;

 private:
  std::map<std::string, int> failures_;
};

class WorkQueue {
 public:
  explicit WorkQueue(const Executor& executor);

  void Add(const std::string& key);
  void AddAfter(const std::string& key, Duration delay);  // of several the earliest holds
  void AddRateLimited(const std::string& key) { AddAfter(key, backoff_.Next(key)); }
  void Forget(const std::string& key) { backoff_.Forget(key); }

  // Awaits a key; nothing after ShutDown, once the line is empty.
  Task<std::optional<std::string>> Get();
  void Done(const std::string& key);
  void ShutDown();

  size_t size() const { return line_.size(); }
  int failures(const std::string& key) const { return backoff_.failures(key); }

 private:
  void TakeDue(Time now);

  Event wake_;
  WorkLine line_;
  FailureBackoff backoff_;
  std::map<std::string, Time> later_;
  bool shut_down_ = false;
};

}  // namespace pawl::kube
