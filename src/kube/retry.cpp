#include "kube/retry.h"

#include <algorithm>

namespace pawl::kube {
namespace {

constexpr int kMostRetries = 10;
constexpr int kMostDoublings = 20;
constexpr Duration kLongest = 30s;

Duration Doubled(Duration first, int times) {
  return std::min<Duration>(first * (int64_t{1} << std::clamp(times, 0, kMostDoublings)), kLongest);
}

}  // namespace

Duration Scale(Duration delay, double factor) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(delay) * factor);
}

std::optional<Duration> RetryDelay(const ApiStatus& status, int attempt, double chance) {
  if (attempt >= kMostRetries) return std::nullopt;
  const bool refused = status.code == 429 || status.code >= 500;
  if (refused && status.retry_after) return Duration(*status.retry_after);
  if (status.code != 429 && status.code != 503) return std::nullopt;
  return Scale(Doubled(1s, attempt), chance);
}

Duration WatchDelay(int attempt, double chance) {
  return Scale(Doubled(800ms, attempt), 1.0 + chance);
}

}  // namespace pawl::kube
