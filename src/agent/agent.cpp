#include "agent/agent.h"

#include <algorithm>

#include "agent/cdi_stage.h"
#include "agent/discovery_stage.h"
#include "agent/plugin_stage.h"
#include "agent/toolkit_stage.h"
#include "agent/validated_stage.h"
#include "base/log.h"
#include "base/memory.h"

namespace pawl::agent {

Agent::Agent(const Executor& executor, AgentOptions options)
    : executor_(executor),
      options_(std::move(options)),
      files_(options_.run_dir),
      state_changed_(executor) {
  board_.changed = [this](Topic topic) { Changed(topic); };
}

Agent::~Agent() { Stop(); }

Status Agent::Start() {
  Result<FileDescriptor> lock = TakeAgentLock(options_.run_dir);
  if (!lock) return Fail(lock.error());
  lock_ = *std::move(lock);
  if (Status begun = files_.Begin(); !begun) return begun;
  boot_id_ = BootId(options_.host_root);
  if (Result<AgentState> state = ReadState(options_.run_dir);
      state && !boot_id_.empty() && state->boot_id == boot_id_) {
    was_ready_ = state->was_ready;
    remembered_ = std::move(state->snapshot);
  }
  if (Status connected = ConnectToKubernetes(); !connected) return connected;
  AddStages();
  for (const std::unique_ptr<Running>& running : stages_) {
    Spawn(executor_, running->stage->name(), Follow(*running));
  }
  Spawn(executor_, "state file", KeepState());
  return {};
}

// Only prepares: the first request is sent after the stages have begun.
Status Agent::ConnectToKubernetes() {
  if (!options_.kubernetes) return {};
  auto link = NodeLink::Create(executor_, *options_.kubernetes, options_.node_name);
  if (!link) return Fail(link.error());
  link_ = *std::move(link);
  link_->on_node = [this](std::shared_ptr<const OwnNode> node) {
    board_.node = std::move(node);
    Changed(Topic::kNode);
  };
  condition_ =
      std::make_unique<ConditionWriter>(executor_, board_, *link_, options_.between_writes);
  condition_->booting = !was_ready_;
  return {};
}

// In the order of the chain. The driver's worker is started first: it takes the longest.
void Agent::AddStages() {
  auto driver = std::make_unique<DriverStage>(executor_, options_, board_, files_, remembered_);
  driver_ = driver.get();
  AddStage(std::move(driver));
  if (options_.toolkit_enabled) AddStage(std::make_unique<ToolkitStage>(options_, board_, files_));
  if (options_.device_plugin_enabled) {
    AddStage(std::make_unique<CdiStage>(options_, board_));
    AddStage(std::make_unique<PluginStage>(executor_, options_, board_, files_));
  }
  if (options_.discovery_enabled) {
    AddStage(std::make_unique<DiscoveryStage>(options_, board_, link_.get()));
  }
  AddStage(std::make_unique<ValidatedStage>(options_, board_));
  if (link_) {
    Spawn(executor_, "own node", link_->Run());
    Spawn(executor_, "condition", condition_->Run());
  }
}

void Agent::AddStage(std::unique_ptr<Stage> stage) {
  board_.chain.At(stage->name()).reason = "Starting";
  stages_.push_back(
      std::make_unique<Running>(Running{.stage = std::move(stage), .wake = Event(executor_)}));
}

Task<> Agent::Follow(Running& running) {
  while (!stopping_) {
    Task<Outcome> run = running.stage->Run();
    const Outcome outcome = co_await std::move(run);
    if (stopping_) break;
    Report(*running.stage, outcome);
    if (outcome.again) {
      Task<bool> woken = running.wake.WaitFor(*outcome.again);
      co_await std::move(woken);
    } else {
      Task<> woken = running.wake.Wait();
      co_await std::move(woken);
    }
  }
}

void Agent::Report(const Stage& stage, const Outcome& outcome) {
  const StageStatus now{std::string(stage.name()), outcome.state, outcome.reason, outcome.evidence};
  StageStatus& before = board_.chain.At(stage.name());
  if (before == now) return;
  if (before.state != now.state || before.reason != now.reason) {
    const auto say = now.state == StageState::kFailed ? &log::Warning : &log::Info;
    say("stage", {{"stage", now.stage},
                  {"state", ToString(now.state)},
                  {"reason", now.reason},
                  {"evidence", now.evidence}});
  }
  before = now;
  if (!started_up_ && board_.chain.FirstUnready() == nullptr) {
    started_up_ = true;
    was_ready_ = true;
    if (condition_) condition_->booting = false;
    ReleaseStartupMemory();
  }
  Changed(Topic::kChain);
}

void Agent::Changed(Topic topic) {
  for (const std::unique_ptr<Running>& running : stages_) {
    const std::vector<Topic> inputs = running->stage->inputs();
    if (std::find(inputs.begin(), inputs.end(), topic) != inputs.end()) running->wake.Notify();
  }
  if (condition_) condition_->Look();
  if (topic == Topic::kChain || topic == Topic::kGpus) state_changed_.Notify();
}

Task<> Agent::KeepState() {
  while (!stopping_) {
    Task<> changed = state_changed_.Wait();
    co_await std::move(changed);
    SaveState();
  }
}

void Agent::SaveState() {
  AgentState state;
  state.node_name = options_.node_name;
  state.boot_id = boot_id_;
  state.updated = ToRfc3339(std::chrono::system_clock::now());
  state.was_ready = was_ready_;
  state.chain = board_.chain;
  if (board_.driver_answers) remembered_.reset();
  // What is not known yet does not take the place of what was: the next agent may need it too.
  state.snapshot = remembered_ && board_.snapshot.gpus.empty() ? *remembered_ : board_.snapshot;
  const Result<Written> written = WriteState(options_.run_dir, state);
  if (!written) log::Warning("the state was not written", {{"error", written.error()}});
}

void Agent::Stop() {
  if (std::exchange(stopping_, true)) return;
  if (condition_) condition_->Stop();
  if (link_) link_->Stop();
  for (const std::unique_ptr<Running>& running : stages_) {
    running->stage->Stop();
    running->wake.Notify();
  }
  state_changed_.Notify();
}

void Agent::Reload() {
  if (driver_ != nullptr) driver_->Restart();
}

}  // namespace pawl::agent
