// Stage "plugin": kubelet knows the GPUs of this node and can ask for them
// (spec/device-plugin.md §2, §5, §8, §9).
#pragma once

#include <memory>

#include "agent/options.h"
#include "agent/stage.h"
#include "agent/validation_files.h"
#include "node/registered_plugin.h"

namespace pawl::agent {

// "nvidia-gpu.sock" of "nvidia.com/gpu".
std::string EndpointOf(std::string_view resource);

// What kubelet is answered from. Every GPU is in the list, usable or not: capacity counts the
// unusable ones too. One that a container cannot be given is unhealthy.
std::shared_ptr<const node::PluginState> PluginStateOf(const AgentOptions& options,
                                                       const Board& board);

class PluginStage final : public Stage {
 public:
  PluginStage(const Executor& executor, const AgentOptions& options, Board& board,
              ValidationFiles& files);

  std::string_view name() const override { return "plugin"; }
  std::vector<Topic> inputs() const override {
    return {Topic::kGpus, Topic::kCdi, Topic::kKubelet};
  }
  Task<Outcome> Run() override;
  void Stop() override;

 private:
  Outcome Offer();
  bool MayBegin() const;
  void Publish();

  Executor executor_;
  const AgentOptions& options_;
  Board& board_;
  ValidationFiles& files_;
  node::RegisteredPlugin plugin_;
  bool begun_ = false;
  size_t devices_ = 0;
};

}  // namespace pawl::agent
