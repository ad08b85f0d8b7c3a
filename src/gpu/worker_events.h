// The worker's event thread: waits in NVML for what GPUs report of themselves and passes it on
// (spec/nvml.md §3.7). All NVML calls about events are made on this thread, so that a GPU that
// hangs in one of them holds up no request.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu/nvml.h"

namespace pawl::gpu {

class WorkerEvents {
 public:
  // `send` gets each message; see worker.h for the form. It is called on the event thread.
  WorkerEvents(const Nvml& nvml, std::function<void(std::string_view)> send)
      : nvml_(nvml), send_(std::move(send)) {}
  // Waits for the thread, up to the time of one wait in NVML; a process that has no time for that
  // ends by _exit.
  ~WorkerEvents();
  WorkerEvents(const WorkerEvents&) = delete;
  WorkerEvents& operator=(const WorkerEvents&) = delete;

  // From now on the events of these GPUs are passed on. A GPU that has no events to give is left
  // out silently: it still has its probes. Call it once.
  void Watch(std::vector<uint32_t> indexes);

 private:
  void Loop();
  bool Register();  // a fresh set for all of watched_; false: it is unusable
  void Report(const nvml::EventData& event);
  void Rest();  // a second between two tries, less when stopping

  const Nvml nvml_;
  const std::function<void(std::string_view)> send_;
  std::vector<uint32_t> watched_;  // written before the thread starts
  std::mutex mutex_;               // for the condition variable
  std::condition_variable stop_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;

  nvml::EventSet set_ = nullptr;
  bool any_ = false;  // one of them gives events
  std::map<nvml::Device, uint32_t> index_of_;
};

}  // namespace pawl::gpu
