// Stage "validated": all stages before it are ready and the API server shows as many allocatable
// GPUs as we offer healthy ones (spec/readiness-health.md §2, step 6). Pods that ask for GPUs can
// be scheduled here.
#pragma once

#include "agent/options.h"
#include "agent/stage.h"

namespace pawl::agent {

// Pure: the stage's outcome for a board. `with_kubernetes`: the Node object counts too. Once the node
// `was_ready`, it stays so while it shows any GPU: kubelet's figure follows ours by up to 10 s each
// time that a GPU goes or comes back.
Outcome Validate(const Board& board, bool with_plugin, bool with_kubernetes, bool was_ready);

class ValidatedStage final : public Stage {
 public:
  ValidatedStage(const AgentOptions& options, const Board& board)
      : options_(options), board_(board) {}

  std::string_view name() const override { return "validated"; }
  std::vector<Topic> inputs() const override {
    return {Topic::kChain, Topic::kPlugin, Topic::kNode};
  }
  Task<Outcome> Run() override {
    Outcome outcome = Validate(board_, options_.device_plugin_enabled,
                               options_.kubernetes.has_value(), was_ready_);
    was_ready_ = was_ready_ || outcome.state == StageState::kReady;
    co_return outcome;
  }

 private:
  const AgentOptions& options_;
  const Board& board_;
  bool was_ready_ = false;
};

}  // namespace pawl::agent
