// Stage "cdi": the CDI specification that the device plugin's answers name is in the host's folder,
// with every GPU that a container can be given (spec/device-plugin.md §8). None can be while the
// hooks that it names are not on the host: every start of a container would fail.
#pragma once

#include <set>

#include "agent/options.h"
#include "agent/stage.h"

namespace pawl::agent {

class CdiStage final : public Stage {
 public:
  CdiStage(const AgentOptions& options, Board& board) : options_(options), board_(board) {}

  std::string_view name() const override { return "cdi"; }
  std::vector<Topic> inputs() const override { return {Topic::kGpus, Topic::kToolkit}; }
  Task<Outcome> Run() override;

 private:
  void Offer(std::set<std::string> uuids);
  void Warn(const std::vector<std::string>& warnings);

  const AgentOptions& options_;
  Board& board_;
  std::set<std::string> warned_;
};

// The file that it writes.
std::string PluginCdiFile(const std::string& cdi_dir);

}  // namespace pawl::agent
