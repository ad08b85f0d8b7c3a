// Stage "driver": the driver's library is there and NVML answers in the worker. Finds it anew when
// it comes, goes or is replaced. Keeps the board's snapshot.
#pragma once

#include <memory>
#include <optional>

#include "agent/options.h"
#include "agent/stage.h"
#include "agent/validation_files.h"
#include "gpu/worker_client.h"

namespace pawl::agent {

class DriverStage final : public Stage {
 public:
  // `remembered`: what an earlier run of the agent knew in this boot. When NVML has told nothing
  // after options.driver_patience, kubelet is shown these GPUs, as unhealthy. Without it nothing can
  // be shown: PCI tells how many GPUs there are, and no UUID.
  DriverStage(const Executor& executor, const AgentOptions& options, Board& board,
              ValidationFiles& files, std::optional<gpu::Snapshot> remembered);

  std::string_view name() const override { return "driver"; }
  std::vector<Topic> inputs() const override { return {Topic::kGpus}; }
  Task<Outcome> Run() override;
  void Stop() override;

  // Reads all GPUs again (SIGHUP).
  void Restart();

  int worker_pid() const { return worker_ ? worker_->pid() : 0; }

 private:
  void Find();
  void StartWorker();
  bool Slow() const;
  void ShowWhatWasKnown();
  void TakeSnapshot();
  Outcome Judge();
  Outcome Answered();

  Executor executor_;
  const AgentOptions& options_;
  Board& board_;
  ValidationFiles& files_;
  std::optional<gpu::Snapshot> remembered_;  // the last that NVML told
  std::unique_ptr<gpu::NvmlWorker> worker_;
  Time worker_began_{};
};

}  // namespace pawl::agent
