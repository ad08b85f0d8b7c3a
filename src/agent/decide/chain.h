// The chain that makes a node GPU-ready, as data: each stage with its state, the reason and the
// evidence; and the one Node condition that tells it to schedulers and people
// (spec/readiness-health.md §1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "gpu/model.h"

namespace pawl::agent {

enum class StageState { kWaiting, kReady, kFailed };
std::string_view ToString(StageState state);  // "Waiting", "Ready", "Failed"

struct StageStatus {
  std::string stage;  // "driver", "toolkit", "plugin", "discovery", "validated"
  StageState state = StageState::kWaiting;
  std::string reason;    // one word fit for a condition: "DriverNotFound"; empty when ready
  std::string evidence;  // what was seen, a sentence for people

  bool operator==(const StageStatus&) const = default;
};

// In the order of the chain: a stage needs those before it.
struct Chain {
  std::vector<StageStatus> stages;

  // The first stage that is not ready; nullptr when all are.
  const StageStatus* FirstUnready() const;
  StageStatus& At(std::string_view stage);  // makes it at the end when it is not there
  bool operator==(const Chain&) const = default;
};

inline constexpr std::string_view kGpuReadyCondition = "GPUReady";

struct NodeCondition {
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;

  bool operator==(const NodeCondition&) const = default;
};

// GPUReady. `booting`: this boot's chain has not been through once, so nothing is known yet.
NodeCondition GpuReady(const Chain& chain, const gpu::Snapshot& snapshot, bool booting);

// For `pawl doctor`: a table of the stages, then a line for each GPU that has a problem.
std::string ChainTable(const Chain& chain, const gpu::Snapshot& snapshot);

json::value ToJsonValue(const Chain& chain);
Result<Chain> ChainFromJson(const json::value& value);

}  // namespace pawl::agent
