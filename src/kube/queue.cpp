#include "kube/queue.h"

#include <algorithm>

namespace pawl::kube {
namespace {

constexpr Duration kFirstDelay = 5ms;
constexpr Duration kLongestDelay = 1000s;
constexpr int kMostDoublings = 20;

}  // namespace

void WorkLine::Add(const std::string& key) {
  if (!dirty_.insert(key).second) return;
  if (!processing_.contains(key)) line_.push_back(key);
}

std::optional<std::string> WorkLine::Take() {
  if (line_.empty()) return std::nullopt;
  std::string key = std::move(line_.front());
  line_.pop_front();
  dirty_.erase(key);
  processing_.insert(key);
  return key;
}

void WorkLine::Done(const std::string& key) {
  processing_.erase(key);
  if (dirty_.contains(key)) line_.push_back(key);
}

Duration FailureBackoff::Next(const std::string& key) {
  const int failures = failures_[key]++;
  const Duration delay = kFirstDelay * (int64_t{1} << std::min(failures, kMostDoublings));
  return std::min(delay, kLongestDelay);
}

int FailureBackoff::failures(const std::string& key) const {
  const auto found = failures_.find(key);
  return found == failures_.end() ? 0 : found->second;
}

WorkQueue::WorkQueue(const Executor& executor) : wake_(executor) {}

void WorkQueue::Add(const std::string& key) {
  if (shut_down_) return;
  line_.Add(key);
  wake_.Notify();
}

void WorkQueue::AddAfter(const std::string& key, Duration delay) {
  if (shut_down_) return;
  const Time due = std::chrono::steady_clock::now() + delay;
  const auto [entry, fresh] = later_.emplace(key, due);
  if (!fresh) entry->second = std::min(entry->second, due);
  wake_.Notify();
}

void WorkQueue::TakeDue(Time now) {
  for (auto entry = later_.begin(); entry != later_.end();) {
    if (entry->second > now) {
      ++entry;
      continue;
    }
    line_.Add(entry->first);
    entry = later_.erase(entry);
  }
}

Task<std::optional<std::string>> WorkQueue::Get() {
  while (true) {
    const Time now = std::chrono::steady_clock::now();
    TakeDue(now);
    std::optional<std::string> key = line_.Take();
    if (key || shut_down_) {
      if (line_.size() > 0 || shut_down_) wake_.Notify();  // for another worker
      co_return key;
    }
    if (later_.empty()) {
      co_await wake_.Wait();
      continue;
    }
    const auto first = std::min_element(
        later_.begin(), later_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    const Duration left = first->second - now;
    co_await wake_.WaitFor(left);
  }
}

void WorkQueue::Done(const std::string& key) {
  line_.Done(key);
  if (line_.size() > 0) wake_.Notify();
}

void WorkQueue::ShutDown() {
  shut_down_ = true;
  later_.clear();
  wake_.Notify();
}

}  // namespace pawl::kube
