#include "agent/driver_stage.h"

#include "base/log.h"

namespace pawl::agent {
namespace {

constexpr Duration kLookAgain = 5s;      // for a driver that is not there
constexpr Duration kLookForOther = 15s;  // for another library in the place of the one in use
constexpr std::string_view kStarting = "DriverStarting";
constexpr std::string_view kNotYet =
    "nvmlInit_v2, or the first reading of the GPUs, has not come back yet";

// "NvmlHung" and "nvmlInit_v2 did not answer" of "NvmlHung: nvmlInit_v2 did not answer".
std::pair<std::string, std::string> SplitReason(const std::string& text,
                                                std::string_view otherwise) {
  const size_t colon = text.find(": ");
  if (colon == std::string::npos || text.find(' ') < colon) return {std::string(otherwise), text};
  return {text.substr(0, colon), text.substr(colon + 2)};
}

gpu::Snapshot WithProblem(gpu::Snapshot snapshot, const std::string& problem) {
  for (gpu::Gpu& gpu : snapshot.gpus) {
    if (gpu.usable()) gpu.problem = problem;
  }
  return snapshot;
}

// Of GPUs that nobody has seen yet in this run: what was wrong with one earlier need not be so now.
gpu::Snapshot NothingUsable(gpu::Snapshot snapshot, const std::string& problem) {
  for (gpu::Gpu& gpu : snapshot.gpus) gpu.problem = problem;
  for (gpu::SilentGpu& gpu : snapshot.silent) gpu.problem = problem;
  return snapshot;
}

}  // namespace

DriverStage::DriverStage(const Executor& executor, const AgentOptions& options, Board& board,
                         ValidationFiles& files, std::optional<gpu::Snapshot> remembered)
    : executor_(executor),
      options_(options),
      board_(board),
      files_(files),
      remembered_(std::move(remembered)) {}

Task<Outcome> DriverStage::Run() {
  Find();
  ShowWhatWasKnown();
  Outcome outcome = Judge();
  const Status marked = outcome.state == StageState::kReady
                            ? files_.Set("driver-ready", DriverReadyText(*board_.driver))
                            : files_.Clear("driver-ready");
  if (!marked) co_return Outcome::Failed("ValidationFile", marked.error().message(), kLookAgain);
  co_return outcome;
}

void DriverStage::Stop() {
  if (!worker_) return;
  worker_->on_change = nullptr;
  worker_->Stop();
}

void DriverStage::Restart() {
  if (worker_) worker_->Restart();
}

// Where the driver is now, with a worker on it.
void DriverStage::Find() {
  std::optional<DriverRoot> found = FindDriverRoot(options_.host_root, options_.driver_install_dir);
  if (found == board_.driver) return;
  const bool replaced = found && board_.driver && found->view == board_.driver->view;
  board_.driver = std::move(found);
  if (!board_.driver) {
    worker_.reset();
    board_.driver_answers = false;
    board_.snapshot =
        WithProblem(std::move(board_.snapshot), "DriverNotFound: the driver's library has gone");
    board_.changed(Topic::kGpus);
  } else if (replaced && worker_) {
    log::Info("the driver's library was replaced", {{"library", board_.driver->library}});
    worker_->Restart();
  } else {
    StartWorker();
  }
}

void DriverStage::StartWorker() {
  gpu::NvmlWorkerOptions options;
  options.command = options_.worker_command;
  options.environment = options_.worker_environment;
  options.driver_root = board_.driver->view;
  options.root = options_.host_root;
  if (options_.call_deadline) options.call_deadline = *options_.call_deadline;
  if (options_.init_deadline) options.init_deadline = *options_.init_deadline;
  if (options_.probe_interval) options.probe_interval = *options_.probe_interval;
  worker_ = std::make_unique<gpu::NvmlWorker>(executor_, std::move(options));
  worker_->on_change = [this] {
    TakeSnapshot();
    board_.changed(Topic::kGpus);
  };
  worker_->on_event = [](const gpu::GpuEvent& event) {
    log::Warning("an event of a GPU",
                 {{"gpu", event.uuid}, {"type", event.type}, {"data", event.data}});
  };
  worker_began_ = std::chrono::steady_clock::now();
  Spawn(executor_, "NVML worker", worker_->Run());
}

bool DriverStage::Slow() const {
  return std::chrono::steady_clock::now() - worker_began_ >= options_.driver_patience;
}

// Kubelet gets its list, with nothing in it that may be used, also while NVML takes its time.
void DriverStage::ShowWhatWasKnown() {
  if (!worker_ || worker_->state() != gpu::NvmlWorker::State::kStarting || !Slow()) return;
  if (!remembered_ || remembered_->gpus.empty() || !board_.snapshot.gpus.empty()) return;
  board_.snapshot =
      NothingUsable(*remembered_, std::string(kStarting) + ": " + std::string(kNotYet));
  board_.changed(Topic::kGpus);
}

// Nothing is told before the worker has read everything once: a list that grows would be taken for
// the whole (spec/readiness-health.md §2, step 5).
void DriverStage::TakeSnapshot() {
  using State = gpu::NvmlWorker::State;
  board_.driver_answers = worker_->state() == State::kReady;
  if (worker_->state() == State::kStarting && worker_->snapshot().gpus.empty()) return;
  if (worker_->snapshot().gpus.empty() && remembered_ && !board_.driver_answers) {
    board_.snapshot = NothingUsable(*remembered_, worker_->reason());
    return;
  }
  board_.snapshot = worker_->snapshot();
  if (board_.driver_answers) remembered_ = board_.snapshot;
}

Outcome DriverStage::Judge() {
  using State = gpu::NvmlWorker::State;
  if (!board_.driver) {
    return Outcome::Waiting("DriverNotFound", "libnvidia-ml.so.1 is neither below " +
                                                  options_.host_root + " nor below its " +
                                                  options_.driver_install_dir)
        .After(kLookAgain);
  }
  switch (worker_->state()) {
    case State::kStarting:
      if (Slow()) {
        return Outcome::Waiting(std::string(kStarting), std::string(kNotYet)).After(kLookForOther);
      }
      return Outcome::Waiting(std::string(kStarting), "NVML is being initialised")
          .After(worker_began_ + options_.driver_patience - std::chrono::steady_clock::now());
    case State::kNoDriver: {
      const auto [reason, evidence] = SplitReason(worker_->reason(), "DriverNotFound");
      return Outcome::Waiting(reason, evidence).After(kLookForOther);
    }
    case State::kHung: {
      const auto [reason, evidence] = SplitReason(worker_->reason(), "NvmlHung");
      return Outcome::Failed(reason, evidence, kLookForOther);
    }
    case State::kReady:
      return Answered();
  }
  return Outcome::Failed("Internal", "a worker in no state", kLookForOther);
}

Outcome DriverStage::Answered() {
  const gpu::Snapshot& snapshot = worker_->snapshot();
  const size_t count = snapshot.gpus.size() + snapshot.silent.size();
  if (count == 0) {
    return Outcome::Waiting("NoGPU", "driver " + snapshot.driver_version + " lists no GPU")
        .After(kLookForOther);
  }
  return Outcome::Ready("driver " + snapshot.driver_version + " " +
                        (board_.driver->on_host ? "on the host" : "in " + board_.driver->host) +
                        ", " + std::to_string(count) + (count == 1 ? " GPU" : " GPUs"))
      .After(kLookForOther);
}

}  // namespace pawl::agent
