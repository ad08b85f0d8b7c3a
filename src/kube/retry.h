// When to try again, and how soon. Pure; spec/kubernetes-client.md §2 and §3.
#pragma once

#include <optional>

#include "base/task.h"
#include "kube/status.h"

namespace pawl::kube {

// The wait before retry number `attempt` (0 is the first) of a refused request; nothing: do not.
// `chance` is in [0, 1). A 429 or 5xx with Retry-After waits that long; 429 and 503 without it wait
// up to 1 s doubling to 30 s by full jitter. At most 10 retries.
std::optional<Duration> RetryDelay(const ApiStatus& status, int attempt, double chance);

// The reflector's wait after failure number `attempt` in a row (0 is the first): 0.8 s doubling to
// 30 s, plus up to as much again.
Duration WatchDelay(int attempt, double chance);

// `delay` times `factor`, without overflow.
Duration Scale(Duration delay, double factor);

}  // namespace pawl::kube
