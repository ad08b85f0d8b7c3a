#include "gpu/worker_core.h"

#include <algorithm>

#include "base/log.h"
#include "gpu/nvml.h"
#include "gpu/snapshot.h"
#include "gpu/worker.h"

namespace pawl::gpu {

using nvml::Return;

namespace {

// More killed workers than this that the kernel cannot end, and no other is started.
constexpr size_t kMostDying = 4;

std::string DriverReason(const WorkerAnswer& answer) {
  const Return code{answer.code};
  std::string_view word = "DriverNotFound";
  if (code == Return::kDriverNotLoaded) word = "DriverNotLoaded";
  if (code == Return::kLibraryVersionMismatch) word = "DriverVersionMismatch";
  return std::string(word) + ": " + answer.message;
}

std::string EndWord(const Error& error) {
  return error.kind() == ErrorKind::kDeadlineExceeded ? "NvmlHung: " : "NvmlCrashed: ";
}

}  // namespace

NvmlWorker::Core::Core(const Executor& executor, NvmlWorkerOptions options, NvmlWorker* owner)
    : executor_(executor), options_(std::move(options)), owner_(owner), wake_(executor) {}

Task<> NvmlWorker::Core::Run(std::shared_ptr<Core> self) {
  while (!self->stopped_) {
    self->restart_ = false;
    const Outcome outcome = co_await self->OneWorker();
    self->LetGo();
    if (self->stopped_) break;
    const Duration pause = self->Settle(outcome);
    self->Publish();
    const Time next = std::chrono::steady_clock::now() + pause;
    while (!self->ending()) {  // what else wakes us is no reason to try again sooner
      const Duration left = next - std::chrono::steady_clock::now();
      if (left <= 0s) break;
      co_await self->wake_.WaitFor(left);
    }
  }
}

void NvmlWorker::Core::Stop() {
  stopped_ = true;
  LetGo();
  wake_.Notify();
}

void NvmlWorker::Core::Restart() {
  restart_ = true;
  if (session_) session_->Kill();
  wake_.Notify();
}

void NvmlWorker::Core::LetGo() {
  if (session_) {
    session_->Kill();
    dying_.push_back(std::move(session_));
    session_.reset();
  }
}

// What a worker's end means, and how long to wait before the next.
Duration NvmlWorker::Core::Settle(const Outcome& outcome) {
  if (outcome.end == End::kStopped || outcome.end == End::kSkipped) return 0s;
  if (outcome.end == End::kNoDriver) {
    if (state_ != State::kNoDriver) log::Warning("no driver", {{"reason", outcome.reason}});
    state_ = State::kNoDriver;
    reason_ = outcome.reason;
    failures_ = 0;
    SkipNothing();  // whatever comes next is another driver
    MarkAll(outcome.reason);
    return options_.no_driver_retry;
  }
  ++failures_;
  log::Failure("NVML worker ended", {{"reason", outcome.reason}, {"in a row", failures_}});
  const bool first_crash = outcome.end == End::kBroken && failures_ == 1;
  if (first_crash && state_ == State::kReady) return 0s;
  if (!first_crash) {
    state_ = State::kHung;
    reason_ = outcome.reason;
    MarkAll(outcome.reason);
  }
  Duration pause = options_.first_backoff;
  for (int i = 1; i < failures_ && pause < options_.last_backoff; ++i) pause *= 2;
  return std::min(pause, options_.last_backoff);
}

Task<NvmlWorker::Core::Outcome> NvmlWorker::Core::OneWorker() {
  std::erase_if(dying_, [](const auto& session) { return session->reaped(); });
  if (dying_.size() >= kMostDying) {
    co_return Outcome{End::kInitHung, "NvmlHung: " + std::to_string(dying_.size()) +
                                          " killed NVML workers have not ended yet"};
  }
  const std::weak_ptr<Core> weak = weak_from_this();
  WorkerSession::Callbacks callbacks;
  callbacks.on_event = [weak](const json::value& event) {
    if (const std::shared_ptr<Core> core = weak.lock()) core->OnEvent(event);
  };
  callbacks.on_end = [weak] {
    if (const std::shared_ptr<Core> core = weak.lock()) core->wake_.Notify();
  };
  Result<std::shared_ptr<WorkerSession>> started = StartSession(std::move(callbacks));
  if (!started) co_return Outcome{End::kBroken, "NvmlNotStarted: " + started.error().message()};
  session_ = std::move(*started);

  std::optional<Outcome> failed = co_await Initialize();
  if (!failed) failed = co_await ReadAll();
  if (!failed) failed = co_await WatchAll();
  if (failed) co_return *failed;
  co_return co_await Serve();
}

Result<std::shared_ptr<WorkerSession>> NvmlWorker::Core::StartSession(
    WorkerSession::Callbacks callbacks) {
  Command command;
  command.arguments = options_.command;
  command.environment = options_.environment;
  return WorkerSession::Start(executor_, std::move(command), std::move(callbacks));
}

std::string NvmlWorker::Core::InitRequest() const {
  json::array libraries;
  for (const std::string& path : LibraryCandidates(options_.driver_root)) {
    libraries.emplace_back(path);
  }
  json::object request{{"do", "init"}, {"root", options_.root}};
  request["libraries"] = std::move(libraries);
  return json::serialize(request);
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::Initialize() {
  const std::shared_ptr<WorkerSession> session = session_;
  const Result<WorkerAnswer> answer = co_await session->Ask(InitRequest(), options_.init_deadline);
  if (ending()) co_return Outcome{};
  if (!answer) {
    const bool hung = answer.error().kind() == ErrorKind::kDeadlineExceeded;
    co_return Outcome{hung ? End::kInitHung : End::kBroken,
                      EndWord(answer.error()) + answer.error().message()};
  }
  if (answer->code != 0) {
    if (IsDriverGone(Return{answer->code})) {
      co_return Outcome{End::kNoDriver, DriverReason(*answer)};
    }
    co_return Outcome{End::kBroken, "NvmlInitFailed: " + answer->message};
  }
  driver_version_ = TextAt(answer->ok, {"driver_version"});
  const json::value* cuda = Find(answer->ok, "cuda_version");
  cuda_version_ = cuda != nullptr && cuda->is_int64() ? static_cast<int>(cuda->get_int64()) : 0;
  const json::value* count = Find(answer->ok, "count");
  boost::system::error_code error;
  const uint32_t gpus =
      count != nullptr && count->is_number() ? count->to_number<uint32_t>(error) : 0;
  // Another number of GPUs: the indexes may mean others now.
  if (count_ && *count_ != gpus) SkipNothing();
  count_ = gpus;
  co_return std::nullopt;
}

// A request to the worker of now, with the deadline of a call.
Task<Result<WorkerAnswer>> NvmlWorker::Core::Ask(std::string request) {
  const std::shared_ptr<WorkerSession> session = session_;
  if (!session) co_return Fail(ErrorKind::kCancelled, "stopping");
  co_return co_await session->Ask(std::move(request), options_.call_deadline);
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::ReadAll() {
  Snapshot fresh;
  fresh.driver_version = driver_version_;
  fresh.cuda_version = cuda_version_;
  for (uint32_t index = 0; index < *count_; ++index) {
    std::optional<Outcome> failed = co_await ReadOne(index, fresh);
    if (failed) co_return failed;
  }
  std::optional<Outcome> failed = co_await ReadAllLinks(fresh);
  if (failed) co_return failed;
  snapshot_ = Merge(snapshot_, std::move(fresh));
  if (state_ != State::kReady) {
    log::Info("NVML ready", {{"driver", driver_version_}, {"gpus", *count_}});
  }
  state_ = State::kReady;
  reason_.clear();
  Publish();
  co_return std::nullopt;
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::ReadOne(uint32_t index,
                                                                         Snapshot& fresh) {
  const auto skipped = skipped_.find(index);
  if (skipped != skipped_.end()) {
    fresh.silent.push_back(SilentGpu{.index = index, .problem = skipped->second.problem});
    co_return std::nullopt;
  }
  const json::object request{{"do", "gpu"}, {"index", index}};
  const Result<WorkerAnswer> answer = co_await Ask(json::serialize(request));
  if (ending()) co_return Outcome{};
  if (!answer) co_return SkipAfter(index, answer.error());
  if (answer->code != 0) {
    std::optional<Outcome> refused = Refused(index, *answer);
    if (!refused) {
      fresh.silent.push_back(SilentGpu{.index = index, .problem = skipped_[index].problem});
    }
    co_return refused;
  }
  if (answer->ok.is_null()) co_return std::nullopt;  // a board for a display only
  Result<Gpu> gpu = GpuFromJson(answer->ok);
  if (!gpu) co_return Outcome{End::kBroken, "NvmlInitFailed: " + gpu.error().message()};
  fresh.gpus.push_back(std::move(*gpu));
  co_return std::nullopt;
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::ReadAllLinks(Snapshot& fresh) {
  if (links_skipped_) {
    fresh.links = LinksAmong(fresh.gpus, snapshot_);
    co_return std::nullopt;
  }
  for (const std::string& request : LinkRequests(fresh.gpus)) {
    const Result<WorkerAnswer> answer = co_await Ask(request);
    if (ending()) co_return Outcome{};
    if (!answer) co_return SkipLinksAfter(answer.error());
    Result<std::vector<Link>> links = LinksFromJson(answer->ok);
    if (links) fresh.links.insert(fresh.links.end(), links->begin(), links->end());
  }
  co_return std::nullopt;
}

Task<std::optional<NvmlWorker::Core::Outcome>> NvmlWorker::Core::WatchAll() {
  json::object request{{"do", "watch"}};
  json::array& indexes = request["indexes"].emplace_array();
  for (uint32_t index = 0; index < *count_; ++index) {
    if (!skipped_.contains(index)) indexes.emplace_back(index);
  }
  const Result<WorkerAnswer> answer = co_await Ask(json::serialize(request));
  if (ending()) co_return Outcome{};
  if (!answer) {
    co_return Outcome{End::kBroken, EndWord(answer.error()) + answer.error().message()};
  }
  co_return std::nullopt;
}

void NvmlWorker::Core::OnEvent(const json::value& event) {
  if (const json::value* lost = Find(event, "lost"); lost != nullptr) {
    wake_.Notify();  // which GPU, the probes will tell
    return;
  }
  const auto number = [&event](std::string_view key) -> std::optional<uint64_t> {
    const json::value* value = Find(event, key);
    boost::system::error_code error;
    if (value == nullptr || !value->is_number()) return std::nullopt;
    const uint64_t found = value->to_number<uint64_t>(error);
    return error ? std::nullopt : std::optional<uint64_t>(found);
  };
  const std::optional<uint64_t> index = number("index");
  // A GPU that is gone may have had the same index.
  const auto has_index = [&index](const Gpu& g) { return index && g.index == *index; };
  auto gpu = std::find_if(snapshot_.gpus.begin(), snapshot_.gpus.end(),
                          [&](const Gpu& g) { return has_index(g) && g.usable(); });
  if (gpu == snapshot_.gpus.end()) {
    gpu = std::find_if(snapshot_.gpus.begin(), snapshot_.gpus.end(), has_index);
  }
  if (gpu == snapshot_.gpus.end()) return;
  GpuEvent report;
  report.uuid = gpu->uuid;
  report.type = number("type").value_or(0);
  report.data = number("data").value_or(0);
  if (const auto id = number("gpu_instance")) report.gpu_instance = static_cast<uint32_t>(*id);
  if (const auto id = number("compute_instance")) {
    report.compute_instance = static_cast<uint32_t>(*id);
  }
  if (owner_ != nullptr && owner_->on_event) owner_->on_event(report);
}

void NvmlWorker::Core::MarkAll(const std::string& problem) {
  for (Gpu& gpu : snapshot_.gpus) {
    if (gpu.usable()) gpu.problem = problem;
  }
}

void NvmlWorker::Core::Publish() {
  if (state_ == told_state_ && reason_ == told_reason_ && snapshot_ == told_snapshot_) return;
  told_state_ = state_;
  told_reason_ = reason_;
  told_snapshot_ = snapshot_;
  if (owner_ != nullptr && owner_->on_change) owner_->on_change();
}

}  // namespace pawl::gpu
