#include "gpu/worker_client.h"

#include "gpu/worker_core.h"

namespace pawl::gpu {

NvmlWorker::NvmlWorker(const Executor& executor, NvmlWorkerOptions options)
    : core_(std::make_shared<Core>(executor, std::move(options), this)) {}

NvmlWorker::~NvmlWorker() {
  core_->Disown();
  core_->Stop();
}

Task<> NvmlWorker::Run() { return Core::Run(core_); }
void NvmlWorker::Stop() { core_->Stop(); }
void NvmlWorker::Restart() { core_->Restart(); }
NvmlWorker::State NvmlWorker::state() const { return core_->state(); }
const std::string& NvmlWorker::reason() const { return core_->reason(); }
const Snapshot& NvmlWorker::snapshot() const { return core_->snapshot(); }
int NvmlWorker::pid() const { return core_->pid(); }

std::string_view ToString(NvmlWorker::State state) {
  switch (state) {
    case NvmlWorker::State::kStarting:
      return "starting";
    case NvmlWorker::State::kReady:
      return "ready";
    case NvmlWorker::State::kHung:
      return "hung";
    case NvmlWorker::State::kNoDriver:
      return "no driver";
  }
  return "";
}

Task<Result<Snapshot>> TakeSnapshotOnce(NvmlWorkerOptions options) {
  const Executor executor = co_await asio::this_coro::executor;
  const auto changed = std::make_shared<Event>(executor);
  NvmlWorker worker(executor, std::move(options));
  worker.on_change = [changed] { changed->Notify(); };
  Spawn(executor, "NVML worker", worker.Run());
  while (worker.state() == NvmlWorker::State::kStarting) co_await changed->Wait();
  if (worker.state() == NvmlWorker::State::kReady) co_return worker.snapshot();
  const ErrorKind kind = worker.state() == NvmlWorker::State::kNoDriver
                             ? ErrorKind::kUnavailable
                             : ErrorKind::kDeadlineExceeded;
  co_return Fail(kind, worker.reason());
}

}  // namespace pawl::gpu
