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
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WorkerEvents::Watch(uint32_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  watched_.push_back(index);
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
}

void WorkerEvents::Loop() {
  while (!stopping_) {
    if (!Register()) {
      if (set_ != nullptr) (void)nvml_.FreeEventSet(set_);
      set_ = nullptr;
      Rest();
      continue;
    }
    if (!any_) {  // nothing to wait for in NVML
      Rest();
      continue;
    }
    const NvmlResult<nvml::EventData> event = nvml_.WaitForEvent(set_, kWaitMilliseconds);
    if (event) {
      Report(*event);
      continue;
    }
    if (event.error().code == Return::kTimeout) continue;
    if (IsGpuGone(event.error().code)) send_(R"({"event":{"lost":true}})");
    // The set is of no more use: a fresh one for all.
    (void)nvml_.FreeEventSet(set_);
    set_ = nullptr;
    Rest();
  }
  if (set_ != nullptr) (void)nvml_.FreeEventSet(set_);
}

bool WorkerEvents::Register() {
  std::vector<uint32_t> watched;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    watched = watched_;
  }
  if (set_ == nullptr) {
    registered_ = 0;
    any_ = false;
    index_of_.clear();
    const NvmlResult<nvml::EventSet> set = nvml_.CreateEventSet();
    if (!set) return false;
    set_ = *set;
  }
  while (registered_ < watched.size()) {
    const uint32_t index = watched[registered_++];
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
  const size_t before = watched_.size();
  // With no set there is something to try again; without events to wait for, only a new GPU
  // matters.
  const auto news = [this, before] { return stopping_ || watched_.size() != before; };
  if (set_ == nullptr) {
    changed_.wait_for(lock, std::chrono::seconds(1), news);
  } else {
    changed_.wait(lock, news);
  }
}

}  // namespace pawl::gpu
