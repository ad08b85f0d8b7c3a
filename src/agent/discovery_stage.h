// Stage "discovery": the labels that describe the GPUs are on the Node (spec/feature-discovery.md).
// Taken from it by somebody, they come back. They never go because something could not be read.
#pragma once

#include <optional>

#include "agent/node_link.h"
#include "agent/options.h"
#include "agent/stage.h"

namespace pawl::agent {

class DiscoveryStage final : public Stage {
 public:
  // `link` may be null: then the labels are only written to the file <run_dir>/pawl/labels.
  DiscoveryStage(const AgentOptions& options, Board& board, NodeLink* link);

  std::string_view name() const override { return "discovery"; }
  std::vector<Topic> inputs() const override { return {Topic::kGpus, Topic::kNode}; }
  Task<Outcome> Run() override;

 private:
  Labels Compute();
  Task<Outcome> Publish(Labels wanted);

  const AgentOptions& options_;
  Board& board_;
  NodeLink* link_;
  std::optional<int64_t> timestamp_;
  std::optional<Labels> published_;
  Time published_at_{};
  std::optional<gpu::Snapshot> computed_from_;
  Labels computed_;
};

}  // namespace pawl::agent
