// The agent of a node: one process, one loop, the stages of the chain on it (design: "Node flow").
// It needs no API server to give pods their GPUs; with one it also labels the Node and tells its
// condition.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/condition.h"
#include "agent/driver_stage.h"
#include "agent/node_link.h"
#include "agent/options.h"
#include "agent/stage.h"
#include "agent/state_file.h"
#include "agent/validation_files.h"
#include "base/files.h"

namespace pawl::agent {

class Agent {
 public:
  Agent(const Executor& executor, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Takes the node's lock and starts the stages. kUnavailable while another agent is alive here.
  // The Agent must outlive the loop's run.
  Status Start();

  // Lets go of kubelet and of the driver. Takes at most a second, whatever NVML does.
  void Stop();

  // Reads all GPUs again.
  void Reload();

  const Board& board() const { return board_; }
  int worker_pid() const { return driver_ == nullptr ? 0 : driver_->worker_pid(); }

 private:
  struct Running {
    std::unique_ptr<Stage> stage;
    Event wake;
  };

  Status ConnectToKubernetes();
  void AddStages();
  void AddStage(std::unique_ptr<Stage> stage);
  Task<> Follow(Running& running);
  void Report(const Stage& stage, const Outcome& outcome);
  void Changed(Topic topic);
  Task<> KeepState();
  void SaveState();

  Executor executor_;
  AgentOptions options_;
  Board board_;
  ValidationFiles files_;
  FileDescriptor lock_;
  std::string boot_id_;
  std::optional<gpu::Snapshot> remembered_;  // from earlier in this boot, until the driver answers
  bool was_ready_ = false;                   // in this boot, once
  bool started_up_ = false;                  // in this process, once
  bool stopping_ = false;
  std::unique_ptr<NodeLink> link_;
  std::unique_ptr<ConditionWriter> condition_;
  std::vector<std::unique_ptr<Running>> stages_;
  DriverStage* driver_ = nullptr;  // one of them
  Event state_changed_;
};

// Runs an agent until SIGTERM, SIGINT or SIGQUIT; SIGHUP reads the GPUs again. Waits while another
// agent is alive on this node. `ended` is called with the exit code when the agent has let go of
// everything; it should end the process, since what comes after waits for Asio's threads, and one of
// them may be waiting for a name server that does not answer.
void RunAgent(const AgentOptions& options, const std::function<void(int)>& ended);

}  // namespace pawl::agent
