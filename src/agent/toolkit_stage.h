// Stage "toolkit": the hooks are on the host and run there.
#pragma once

#include "agent/options.h"
#include "agent/stage.h"
#include "agent/validation_files.h"

namespace pawl::agent {

class ToolkitStage final : public Stage {
 public:
  ToolkitStage(const AgentOptions& options, Board& board, ValidationFiles& files)
      : options_(options), board_(board), files_(files) {}

  std::string_view name() const override { return "toolkit"; }
  std::vector<Topic> inputs() const override { return {}; }
  Task<Outcome> Run() override;

 private:
  Task<Outcome> Install();

  const AgentOptions& options_;
  Board& board_;
  ValidationFiles& files_;
};

}  // namespace pawl::agent
