#include "agent/condition.h"

#include "base/log.h"

namespace pawl::agent {
namespace {

constexpr Duration kNothingToDo = 1h;
constexpr Duration kRetry = 5s;
// An agent that starts again on a node that was ready gets this long before it calls it unready.
constexpr Duration kGrace = 15s;

}  // namespace

ConditionWriter::ConditionWriter(const Executor& executor, const Board& board, NodeLink& link,
                                 Duration between_writes)
    : board_(board),
      link_(link),
      between_writes_(between_writes),
      wake_(executor),
      began_(std::chrono::steady_clock::now()) {}

Task<> ConditionWriter::Run() {
  while (!stopping_) {
    Task<Duration> step = Step();
    const Duration wait = co_await std::move(step);
    if (stopping_) break;
    Task<bool> woken = wake_.WaitFor(wait);
    co_await std::move(woken);
  }
}

void ConditionWriter::Stop() {
  stopping_ = true;
  wake_.Notify();
}

// Writes it if that is due; returns how long to wait for the next time when nothing happens.
Task<Duration> ConditionWriter::Step() {
  if (!board_.node) co_return kNothingToDo;
  const NodeCondition wanted = GpuReady(board_.chain, board_.snapshot, booting);
  if (board_.node->gpu_ready == wanted) co_return kNothingToDo;
  const Time now = std::chrono::steady_clock::now();
  if (!booting && wanted.status != "True" && !written_ && now - began_ < kGrace) {
    co_return kGrace - (now - began_);
  }
  if (written_ == wanted && now - written_at_ < between_writes_) {
    co_return between_writes_ - (now - written_at_);
  }
  Task<Status> call = link_.ApplyCondition(wanted, board_.node);
  const Status applied = co_await std::move(call);
  if (!applied) {
    if (trouble_ != applied.error().message()) {
      trouble_ = applied.error().message();
      log::Warning("the condition GPUReady was not written", {{"error", applied.error()}});
    }
    co_return kRetry;
  }
  trouble_.clear();
  written_ = wanted;
  written_at_ = std::chrono::steady_clock::now();
  log::Info("condition GPUReady",
            {{"status", wanted.status}, {"reason", wanted.reason}, {"message", wanted.message}});
  co_return between_writes_;
}

}  // namespace pawl::agent
