#include "agent/validated_stage.h"

namespace pawl::agent {
namespace {

constexpr const char* kResource = "nvidia.com/gpu";

}  // namespace

Outcome Validate(const Board& board, bool with_plugin, bool with_kubernetes, bool was_ready) {
  for (const StageStatus& stage : board.chain.stages) {
    if (stage.stage == "validated" || stage.state == StageState::kReady) continue;
    return Outcome::Waiting("StageNotReady", "waits for " + stage.stage);
  }
  if (!with_plugin || !with_kubernetes) return Outcome::Ready("every stage is ready");
  if (!board.node) return Outcome::Waiting("NodeNotRead", "the Node object was not read yet");
  const auto found = board.node->allocatable.find(kResource);
  const int64_t shown = found == board.node->allocatable.end() ? 0 : found->second;
  const auto offered = static_cast<int64_t>(board.healthy_devices);
  const std::string counts = "the node shows " + std::to_string(shown) + " of " +
                             std::to_string(offered) + " allocatable " + kResource;
  // Kubelet publishes its status at most every 10 s.
  const bool enough = was_ready ? shown > 0 || offered == 0 : shown == offered;
  if (!enough) return Outcome::Waiting("AllocatablePending", counts);
  return Outcome::Ready(counts);
}

}  // namespace pawl::agent
