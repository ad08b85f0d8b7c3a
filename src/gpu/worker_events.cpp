#include "gpu/worker_events.h"

#include <chrono>

#include "base/json.h"

namespace pawl::gpu {

using nvml::Return;

namespace {

constexpr uint32_t kWaitMilliseconds = 5000;
constexpr uint64_t kWanted = nvml::kXid | nvml::kDoubleBitEcc | nvml::kSingleBitEcc;

}  // namespace

WorkerEvents::~WorkerEvents() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WorkerEvents::Watch(std::vector<uint32_t> indexes) {
  if (thread_.joinable()) return;
  watched_ = std::move(indexes);
  thread_ = std::thread([this] { Loop(); });
}

void WorkerEvents::Loop() {
  while (!stopping_) {
    const bool usable = Register();
    while (usable && any_ && !stopping_) {
      const NvmlResult<nvml::EventData> event = nvml_.WaitForEvent(set_, kWaitMilliseconds);
      if (event) {
        Report(*event);
      } else if (event.error().code != Return::kTimeout) {
        if (IsGpuGone(event.error().code)) send_(R"({"event":{"lost":true}})");
        break;  // the set is of no more use: a fresh one for all
      }
    }
    if (set_ != nullptr) (void)nvml_.FreeEventSet(set_);
    set_ = nullptr;
    if (usable && !any_) break;  // no GPU here has events
    Rest();
  }
}

bool WorkerEvents::Register() {
  any_ = false;
  index_of_.clear();
  const NvmlResult<nvml::EventSet> set = nvml_.CreateEventSet();
  if (!set) return false;
  set_ = *set;
  for (const uint32_t index : watched_) {
    const NvmlResult<nvml::Device> device = nvml_.DeviceByIndex(index);
    if (!device) continue;
    index_of_[*device] = index;
    const NvmlResult<uint64_t> mask = nvml_.RegisterEvents(*device, kWanted, set_);
    if (!mask && mask.error().code == Return::kUnknown) return false;
    any_ = any_ || mask.value_or(0) != 0;
  }
  return true;
}

void WorkerEvents::Report(const nvml::EventData& event) {
  const auto found = index_of_.find(event.device);
  if (found == index_of_.end()) return;
  json::object report{{"index", found->second}, {"type", event.type}, {"data", event.data}};
  if (event.gpu_instance != nvml::kNoInstance) report["gpu_instance"] = event.gpu_instance;
  if (event.compute_instance != nvml::kNoInstance) {
    report["compute_instance"] = event.compute_instance;
  }
  json::object message;
  message["event"] = std::move(report);
  send_(json::serialize(message));
}

void WorkerEvents::Rest() {
  std::unique_lock<std::mutex> lock(mutex_);
  stop_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_.load(); });
}

}  // namespace pawl::gpu
