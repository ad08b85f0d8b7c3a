// One worker process and the conversation with it. Knows the protocol of gpu/worker.h, decides
// nothing: gpu/worker_client.h does.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/task.h"

namespace pawl::gpu {

// What NVML answered to a request.
struct WorkerAnswer {
  json::value ok;
  int code = 0;         // NVML's return code; not 0: refused, and `message` says why
  std::string message;  // "nvmlDeviceGetMemoryInfo: GPU is lost (15)"
};

class WorkerSession : public std::enable_shared_from_this<WorkerSession> {
 public:
  // Called on the loop. `on_event` gets the member "event" of a message; `on_end` is called once,
  // when the process has closed its end or has ended.
  struct Callbacks {
    std::function<void(const json::value&)> on_event;
    std::function<void()> on_end;
  };
  static Result<std::shared_ptr<WorkerSession>> Start(const Executor& executor, Command command,
                                                      Callbacks callbacks);

  // One request at a time. `deadline` is that of one NVML call: a request that goes on making calls
  // has it for each. kDeadlineExceeded: "nvmlDeviceGetName did not answer within 2 s";
  // kUnavailable: the process ended, "signal 11 (Segmentation fault) in nvmlDeviceGetName". After
  // an error the session is of no more use.
  Task<Result<WorkerAnswer>> Ask(std::string request, Duration deadline);

  // SIGKILL, and nothing is heard of it any more. The process is reaped whenever it really ends.
  void Kill();

  bool ended() const { return closed_; }
  bool reaped() const { return exit_.has_value(); }
  int pid() const { return child_.pid(); }
  // Why it ended, after ended(): "signal 11 (Segmentation fault)". Waits briefly for the kernel.
  Task<std::string> EndReason();

 private:
  WorkerSession(const Executor& executor, Child child, int socket, Callbacks callbacks);
  static Task<> Read(std::shared_ptr<WorkerSession> self);
  static Task<> Reap(std::shared_ptr<WorkerSession> self);
  void Hear(std::string_view message);
  void Closed();

  Child child_;
  asio::posix::stream_descriptor socket_;
  Callbacks callbacks_;
  Event heard_;   // a message or the end
  Event reaped_;  // exit_ is known
  std::optional<WorkerAnswer> answer_;
  std::string current_call_;
  std::optional<ExitStatus> exit_;
  bool closed_ = false;
};

// "2 s", "0.25 s".
std::string SecondsText(Duration duration);

}  // namespace pawl::gpu
