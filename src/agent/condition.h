// Keeps the Node condition GPUReady as the chain has it (spec/readiness-health.md §1).
#pragma once

#include <optional>

#include "agent/node_link.h"
#include "agent/stage.h"

namespace pawl::agent {

class ConditionWriter {
 public:
  // `between_writes`: the least time between two writes of the same.
  ConditionWriter(const Executor& executor, const Board& board, NodeLink& link,
                  Duration between_writes);

  // Something that the condition is made of has changed.
  void Look() { wake_.Notify(); }

  // Whether nothing is known yet of this boot; false from the first time that all was ready.
  bool booting = true;

  // Works until Stop. Run it once, by Spawn; this must outlive the loop's run.
  Task<> Run();
  void Stop();

 private:
  Task<Duration> Step();

  const Board& board_;
  NodeLink& link_;
  Duration between_writes_;
  Event wake_;
  Time began_;
  std::optional<NodeCondition> written_;
  Time written_at_{};
  std::string trouble_;
  bool stopping_ = false;
};

}  // namespace pawl::agent
