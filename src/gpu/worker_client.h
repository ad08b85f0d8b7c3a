// The agent's side of the NVML worker: starts the process, asks it, kills it when it does not
// answer, and keeps what is known of the GPUs meanwhile (design: "Only a child process loads
// NVML").
//
//   starting ──all read──> ready ──a GPU hangs──────> ready: the next worker skips that GPU, it has a problem
//       │                    └──library crashes──> the same, for the GPU it was working on
//       │                    ├──a call about two of them hangs──> ready: the links are read no more
//       ├──no library, no driver──────────────────> no driver: tried again every few seconds
//       └──init hangs, or it ends again and again─> hung: all GPUs have a problem; backoff 1 s … 60 s
//
// A GPU that was skipped, and so the links, is tried again at most once a minute, by a second worker that touches
// nothing else and only once the worker that it hung has really ended; when it answers it is taken
// back. Nothing here blocks the loop, and nothing waits for a process that the kernel cannot end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "gpu/model.h"

namespace pawl::gpu {

struct NvmlWorkerOptions {
  // The worker's command line: {"/proc/self/exe", "nvml"}. It finds its socket as descriptor 3.
  std::vector<std::string> command;
  std::vector<std::string> environment;  // the whole of it: "KEY=VALUE"
  std::string driver_root;  // where the driver's files are, as we see it; empty: only the loader
  std::string root = "/";   // the host's root, for sysfs

  Duration call_deadline = 2s;    // one NVML call
  Duration init_deadline = 60s;   // loading and nvmlInit: a GPU without persistence takes seconds
  Duration probe_interval = 10s;  // a cheap call to each GPU
  Duration no_driver_retry = 5s;
  Duration first_backoff = 1s;  // doubles …
  Duration last_backoff = 60s;  // … up to this
  Duration probation_interval = 60s;
};

// An NVML event (spec/nvml.md §3.7). An Xid has type 0x8 and its number in `data`.
struct GpuEvent {
  std::string uuid;
  uint64_t type = 0;
  uint64_t data = 0;
  std::optional<uint32_t> gpu_instance;  // absent: the whole GPU
  std::optional<uint32_t> compute_instance;
};

class NvmlWorker {
 public:
  enum class State { kStarting, kReady, kHung, kNoDriver };

  NvmlWorker(const Executor& executor, NvmlWorkerOptions options);
  ~NvmlWorker();  // as Stop
  NvmlWorker(const NvmlWorker&) = delete;
  NvmlWorker& operator=(const NvmlWorker&) = delete;

  // Called on the loop after a change of the state, its reason or the snapshot. Set before Run.
  std::function<void()> on_change;
  std::function<void(const GpuEvent&)> on_event;

  // Works until Stop. Run it once, by Spawn.
  Task<> Run();

  // Kills the worker and makes Run return soon; waits for nothing.
  void Stop();

  // Lets go of the driver and reads everything again: the driver or the GPUs have changed. Also
  // ends a wait for a retry.
  void Restart();

  State state() const;
  // Why it is not ready, with a reason word in front: "DriverNotFound: …", "NvmlHung: nvmlInit_v2
  // did not answer within 60 s", "NvmlCrashed: signal 11 (Segmentation fault)". Empty when ready.
  const std::string& reason() const;
  // The last that is known; what it says of a GPU's problem holds in every state.
  const Snapshot& snapshot() const;
  // The worker's process now, 0 when there is none; for measuring.
  int pid() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

std::string_view ToString(NvmlWorker::State state);

// One reading, for a command line that ends afterwards. A GPU that hangs has its problem in the
// snapshot. kUnavailable without a driver, kDeadlineExceeded when the library does not start.
Task<Result<Snapshot>> TakeSnapshotOnce(NvmlWorkerOptions options);

}  // namespace pawl::gpu
