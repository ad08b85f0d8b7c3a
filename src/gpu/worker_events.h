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

  // From the next wait on (within five seconds) this GPU's events are passed on too. A GPU that has
  // no events to give is left out silently: it still has its probes.
  void Watch(uint32_t index);

 private:
  void Loop();
  bool Register();  // what is new in watched_; false: the set is unusable
  void Report(const nvml::EventData& event);
  void Rest();  // a second between two tries; until a GPU is added where there are no events

  const Nvml nvml_;
  const std::function<void(std::string_view)> send_;
  std::mutex mutex_;  // over watched_ and stopping_, which the request thread writes
  std::condition_variable changed_;
  std::vector<uint32_t> watched_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;

  nvml::EventSet set_ = nullptr;
  size_t registered_ = 0;  // how many of watched_ were tried with this set
  bool any_ = false;       // one of them gives events
  std::map<nvml::Device, uint32_t> index_of_;
};

}  // namespace pawl::gpu
