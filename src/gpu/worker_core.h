// The body of NvmlWorker (gpu/worker_client.h): which worker runs, which GPUs it must not touch,
// and what is known meanwhile. Its tasks hold it alive, so that the owner may go at any time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/worker_client.h"
#include "gpu/worker_session.h"

namespace pawl::gpu {

class NvmlWorker::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Executor& executor, NvmlWorkerOptions options, NvmlWorker* owner);

  static Task<> Run(std::shared_ptr<Core> self);
  void Stop();
  void Restart();
  void Disown() { owner_ = nullptr; }

  State state() const { return state_; }
  const std::string& reason() const { return reason_; }
  const Snapshot& snapshot() const { return snapshot_; }
  int pid() const { return session_ ? session_->pid() : 0; }

 private:
  // How one worker's life ended.
  enum class End {
    kStopped,   // Stop or Restart
    kNoDriver,  // no library, or no driver below it
    kInitHung,  //
    kBroken,    // it crashed or refused, and no GPU is to blame
    kSkipped,   // one GPU hung or crashed it: it is in skipped_ now; or the links: links_skipped_
  };
  struct Outcome {
    End end = End::kStopped;
    std::string reason;
  };
  // A GPU that no worker may touch until probation, or the links that none may read.
  struct Skipped {
    std::string problem;
    Time next_try;
    std::shared_ptr<WorkerSession> culprit;  // the worker that it hung; nullptr when it did not

    bool DueAt(Time now) const { return now >= next_try && (!culprit || culprit->reaped()); }
  };

  Task<Outcome> OneWorker();
  Task<std::optional<Outcome>> Initialize();
  Task<std::optional<Outcome>> ReadAll();
  Task<std::optional<Outcome>> ReadOne(uint32_t index, Snapshot& fresh);
  Task<std::optional<Outcome>> ReadAllLinks(Snapshot& fresh);
  Task<std::optional<Outcome>> WatchAll();
  Task<Outcome> Serve();
  Task<std::optional<Outcome>> ProbeAll();
  Task<std::optional<Outcome>> ProbeOne(size_t position);
  Task<Result<WorkerAnswer>> Ask(std::string request);
  void StartProbations();
  static Task<> Probation(std::shared_ptr<Core> self, uint32_t index);
  static Task<> ProbationOfLinks(std::shared_ptr<Core> self);
  // What a worker of its own said to some requests; the worker is killed by then.
  struct Trial {
    bool answered = false;                   // all of them, and none refused
    std::shared_ptr<WorkerSession> session;  // nullptr: it did not start
  };
  Task<Trial> Try(std::vector<std::string> requests);
  void NotYet(Skipped& skipped, const Trial& trial);

  Result<std::shared_ptr<WorkerSession>> StartSession(WorkerSession::Callbacks callbacks);
  std::string InitRequest() const;
  Outcome SkipAfter(uint32_t index, const Error& error);
  Outcome SkipLinksAfter(const Error& error);
  void SkipNothing();
  std::optional<Outcome> Refused(uint32_t index, const WorkerAnswer& answer);
  void Skip(uint32_t index, std::string problem, std::shared_ptr<WorkerSession> culprit);
  void MarkAll(const std::string& problem);
  void OnEvent(const json::value& event);
  Duration Settle(const Outcome& outcome);
  void LetGo();
  void Publish();
  bool ending() const { return stopped_ || restart_; }

  const Executor executor_;
  const NvmlWorkerOptions options_;
  NvmlWorker* owner_;
  State state_ = State::kStarting;
  std::string reason_;
  Snapshot snapshot_;

  std::shared_ptr<WorkerSession> session_;
  std::vector<std::shared_ptr<WorkerSession>> dying_;  // killed, not yet reaped
  std::map<uint32_t, Skipped> skipped_;                // by NVML's index
  std::optional<Skipped> links_skipped_;
  std::optional<uint32_t> count_;  // of GPUs, when skipped_ was filled
  std::string driver_version_;
  int cuda_version_ = 0;
  int failures_ = 0;  // workers in a row that ended before one quiet round of probes
  bool in_probation_ = false;
  bool stopped_ = false;
  bool restart_ = false;
  Event wake_;

  State told_state_ = State::kStarting;
  std::string told_reason_;
  Snapshot told_snapshot_;
};

}  // namespace pawl::gpu
