// The second half of NvmlWorker::Core: the life of a worker that has read everything. Probes, GPUs
// that must not be touched any more, and how they come back.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/log.h"
#include "gpu/nvml.h"
#include "gpu/worker.h"
#include "gpu/worker_core.h"

namespace pawl::gpu {

using nvml::Return;

Task<NvmlWorker::Core::Outcome> NvmlWorker::Core::Serve() {
  const Time since = std::chrono::steady_clock::now();
  while (true) {
    co_await wake_.WaitFor(options_.probe_interval);
    if (ending()) co_return Outcome{};
    std::optional<Outcome> failed = co_await ProbeAll();
    if (failed) co_return *failed;
    if (session_->ended()) {
      const std::shared_ptr<WorkerSession> session = session_;
      const std::string reason = co_await session->EndReason();
      if (ending()) co_return Outcome{};
      co_return Outcome{End::kBroken, "NvmlCrashed: " + reason};
    }
    Publish();
    const Duration age = std::chrono::steady_clock::now() - since;
    if (age >= options_.probe_interval) failures_ = 0;
    // NVML lists GPUs when it starts. With none there, look again by a fresh one.
    if (*count_ == 0 && age >= options_.last_backoff) co_return Outcome{};
    StartProbations();
  }
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::ProbeAll() {
  for (size_t position = 0; position < snapshot_.gpus.size(); ++position) {
    if (session_->ended()) break;
    const Gpu& gpu = snapshot_.gpus[position];
    if (!gpu.usable() || skipped_.contains(gpu.index)) continue;
    std::optional<Outcome> failed = co_await ProbeOne(position);
    if (failed) co_return failed;
  }
  co_return std::nullopt;
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::ProbeOne(size_t position) {
  const uint32_t index = snapshot_.gpus[position].index;
  const json::object request{{"do", "probe"},
                             {"index", index},
                             {"mig", snapshot_.gpus[position].mig_enabled.has_value()},
                             {"fabric", snapshot_.gpus[position].fabric.has_value()}};
  const Result<WorkerAnswer> answer = co_await Ask(json::serialize(request));
  if (ending()) co_return Outcome{};
  if (!answer) co_return SkipAfter(index, answer.error());
  if (answer->code != 0) {
    std::optional<Outcome> refused = Refused(index, *answer);
    // No more calls on this GPU, also not by the thread for events: a worker without it.
    if (!refused) refused = Outcome{End::kSkipped, answer->message};
    co_return refused;
  }
  Gpu& gpu = snapshot_.gpus[position];
  if (const json::value* mig = Find(answer->ok, "mig_enabled"); mig && mig->is_bool()) {
    gpu.mig_enabled = mig->get_bool();
  }
  if (const json::value* fabric = Find(answer->ok, "fabric")) {
    Result<FabricInfo> read = FabricFromJson(*fabric);
    if (read) gpu.fabric = std::move(*read);
  }
  co_return std::nullopt;
}

// A GPU whose request was not answered: it hung the worker, or crashed it.
NvmlWorker::Core::Outcome NvmlWorker::Core::SkipAfter(uint32_t index, const Error& error) {
  const bool hung = error.kind() == ErrorKind::kDeadlineExceeded;
  const std::string problem = (hung ? "NvmlHung: " : "NvmlCrashed: ") + error.message();
  Skip(index, problem, session_);
  return {End::kSkipped, problem};
}

// A call about two GPUs was not answered: either may be to blame, so neither is. If one of them is
// ill, its own requests tell. Only what the links are good for, the preferred choice, is lost.
NvmlWorker::Core::Outcome NvmlWorker::Core::SkipLinksAfter(const Error& error) {
  const bool hung = error.kind() == ErrorKind::kDeadlineExceeded;
  const std::string problem = (hung ? "NvmlHung: " : "NvmlCrashed: ") + error.message();
  log::Warning("how the GPUs are connected cannot be read", {{"problem", problem}});
  links_skipped_ =
      Skipped{.problem = problem,
              .next_try = std::chrono::steady_clock::now() + options_.probation_interval,
              .culprit = session_};
  return {End::kSkipped, problem};
}

void NvmlWorker::Core::SkipNothing() {
  skipped_.clear();
  links_skipped_.reset();
}

// NVML answered, with an error. The driver may be gone; otherwise this GPU is.
std::optional<NvmlWorker::Core::Outcome> NvmlWorker::Core::Refused(uint32_t index,
                                                                   const WorkerAnswer& answer) {
  const Return code{answer.code};
  if (IsDriverGone(code)) return Outcome{End::kNoDriver, "DriverNotLoaded: " + answer.message};
  Skip(index, (IsGpuGone(code) ? "GpuLost: " : "GpuUnreadable: ") + answer.message, nullptr);
  return std::nullopt;
}

void NvmlWorker::Core::Skip(uint32_t index, std::string problem,
                            std::shared_ptr<WorkerSession> culprit) {
  log::Failure("GPU is out", {{"index", index}, {"problem", problem}});
  for (Gpu& gpu : snapshot_.gpus) {
    if (gpu.index == index && gpu.usable()) gpu.problem = problem;
  }
  skipped_[index] =
      Skipped{.problem = std::move(problem),
              .next_try = std::chrono::steady_clock::now() + options_.probation_interval,
              .culprit = std::move(culprit)};
}

void NvmlWorker::Core::StartProbations() {
  if (in_probation_) return;
  const Time now = std::chrono::steady_clock::now();
  for (auto& [index, skipped] : skipped_) {
    if (!skipped.DueAt(now)) continue;
    skipped.culprit.reset();
    in_probation_ = true;
    Spawn(executor_, "NVML probation", Probation(shared_from_this(), index));
    return;
  }
  if (!links_skipped_ || !links_skipped_->DueAt(now)) return;
  links_skipped_->culprit.reset();
  in_probation_ = true;
  Spawn(executor_, "NVML probation of links", ProbationOfLinks(shared_from_this()));
}

Task<NvmlWorker::Core::Trial> NvmlWorker::Core::Try(std::vector<std::string> requests) {
  const Result<std::shared_ptr<WorkerSession>> started = StartSession({});
  if (!started) co_return Trial{};
  Trial trial;
  trial.session = *started;
  Result<WorkerAnswer> answer = co_await trial.session->Ask(InitRequest(), options_.init_deadline);
  for (const std::string& request : requests) {
    if (!answer || answer->code != 0) break;
    answer = co_await trial.session->Ask(request, options_.call_deadline);
  }
  trial.answered = answer && answer->code == 0;
  trial.session->Kill();
  co_return trial;
}

void NvmlWorker::Core::NotYet(Skipped& skipped, const Trial& trial) {
  skipped.next_try = std::chrono::steady_clock::now() + options_.probation_interval;
  skipped.culprit = trial.session;
}

// A worker of its own tries the one GPU; those that work are not touched. When it answers, a fresh
// worker takes all of them, since an NVML that lost a GPU does not get it back.
Task<> NvmlWorker::Core::Probation(std::shared_ptr<Core> self, uint32_t index) {
  const json::object request{{"do", "gpu"}, {"index", index}};
  std::vector<std::string> requests = {json::serialize(request)};
  const Trial trial = co_await self->Try(std::move(requests));
  self->in_probation_ = false;
  const auto skipped = self->skipped_.find(index);
  if (skipped == self->skipped_.end() || self->stopped_) co_return;
  if (!trial.answered) {
    self->NotYet(skipped->second, trial);
    co_return;
  }
  log::Info("GPU answers again", {{"index", index}});
  self->skipped_.erase(skipped);
  self->Restart();
}

// The same for the connections between the GPUs that work.
Task<> NvmlWorker::Core::ProbationOfLinks(std::shared_ptr<Core> self) {
  std::vector<Gpu> gpus;
  std::copy_if(self->snapshot_.gpus.begin(), self->snapshot_.gpus.end(), std::back_inserter(gpus),
               [](const Gpu& gpu) { return gpu.usable(); });
  std::vector<std::string> requests = LinkRequests(gpus);
  const Trial trial = co_await self->Try(std::move(requests));
  self->in_probation_ = false;
  if (!self->links_skipped_ || self->stopped_) co_return;
  if (!trial.answered) {
    self->NotYet(*self->links_skipped_, trial);
    co_return;
  }
  log::Info("how the GPUs are connected can be read again");
  self->links_skipped_.reset();
  self->Restart();
}

}  // namespace pawl::gpu
