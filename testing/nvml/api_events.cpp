// Events: spec/nvml.md §3.7. They come from the fault file (faults.h), each one once to every set
// that was registered for its GPU and kind before it was written.
#include <chrono>
#include <climits>

#include "testing/nvml/session.h"

namespace pawl::stand_in {

class EventSet {
 public:
  EventSet() : news_(LibraryFolder()) {}

  void Register(nvmlDevice_t device, std::uint64_t types, const Faults& now) {
    const std::uint64_t newest = now.events.empty() ? 0 : now.events.back().id;
    const std::scoped_lock lock(mutex_);
    registrations_.push_back({.device = device, .types = types, .seen = newest});
  }

  // The oldest event that was not handed out yet.
  std::optional<nvmlEventData_t> Next(const Faults& now) {
    const std::scoped_lock lock(mutex_);
    for (const HardwareEvent& event : now.events) {
      for (Registration& one : registrations_) {
        if (one.device->gpu->minor != event.gpu || event.id <= one.seen) continue;
        one.seen = event.id;
        if ((one.types & event.type) == 0) continue;
        return nvmlEventData_t{.device = one.device,
                               .eventType = event.type,
                               .eventData = event.data,
                               .gpuInstanceId = kNvmlNoInstance,
                               .computeInstanceId = kNvmlNoInstance};
      }
    }
    return std::nullopt;
  }

  bool HasLost(const Faults& now) {
    const std::scoped_lock lock(mutex_);
    for (const Registration& one : registrations_) {
      if (now.IsLost(one.device->gpu->minor)) return true;
    }
    return false;
  }

  void Wait(int timeout_ms) { news_.Wait(timeout_ms); }

 private:
  struct Registration {
    nvmlDevice_t device = nullptr;
    std::uint64_t types = 0;
    std::uint64_t seen = 0;  // newest event that was looked at
  };

  std::mutex mutex_;
  std::vector<Registration> registrations_;
  FolderWait news_;
};

namespace {

// The handle is the set's address; it is looked up, never followed.
nvmlEventSet_t HandleOf(const std::shared_ptr<EventSet>& set) {
  return reinterpret_cast<nvmlEventSet_t>(set.get());
}

std::shared_ptr<EventSet> FindSet(Session& session, nvmlEventSet_t handle) {
  const std::scoped_lock lock(session.event_mutex);
  const auto found = session.event_sets.find(handle);
  return found == session.event_sets.end() ? nullptr : found->second;
}

nvmlReturn_t Await(const char* function, Session& session, EventSet& set, nvmlEventData_t& event,
                   unsigned timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    if (const auto fault = session.MeetFault(function, nullptr)) return *fault;
    const std::shared_ptr<const Faults> now = session.faults.Current();
    if (const auto next = set.Next(*now)) {
      event = *next;
      return NVML_SUCCESS;
    }
    if (set.HasLost(*now)) return NVML_ERROR_GPU_IS_LOST;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return NVML_ERROR_TIMEOUT;
    set.Wait(static_cast<int>(std::min<std::int64_t>(left, INT_MAX)));
  }
}

}  // namespace
}  // namespace pawl::stand_in

using namespace pawl::stand_in;

PAWL_NVML_API nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  return OnSystem(__func__, [&](Session& session) {
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    auto made = std::make_shared<EventSet>();
    const std::scoped_lock lock(session.event_mutex);
    *set = HandleOf(made);
    session.event_sets[*set] = std::move(made);
    return NVML_SUCCESS;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  return OnSystem(__func__, [&](Session& session) {
    const std::scoped_lock lock(session.event_mutex);
    return session.event_sets.erase(set) == 1 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle, NvmlU64* types) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(types, device.model->event_types);
  });
}

// All of the bits or none of them.
PAWL_NVML_API nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, NvmlU64 types,
                                                    nvmlEventSet_t handle_of_set) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, Session& session) {
    const std::shared_ptr<EventSet> set = FindSet(session, handle_of_set);
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    if ((types & ~device.model->event_types) != 0) return NVML_ERROR_NOT_SUPPORTED;
    set->Register(handle, types, *session.faults.Current());
    return NVML_SUCCESS;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t handle, nvmlEventData_t* event,
                                               unsigned timeout_ms) {
  const std::shared_ptr<Session> session = CurrentSession();
  if (!session) return NVML_ERROR_UNINITIALIZED;
  const std::shared_ptr<EventSet> set = FindSet(*session, handle);
  if (!set || event == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return Await(__func__, *session, *set, *event, timeout_ms);
}

// The first version leaves the instances as the caller had them.
PAWL_NVML_API nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t handle, nvmlEventData_t* event,
                                            unsigned timeout_ms) {
  if (event == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlEventData_t found{};
  const nvmlReturn_t waited = nvmlEventSetWait_v2(handle, &found, timeout_ms);
  if (waited != NVML_SUCCESS) return waited;
  event->device = found.device;
  event->eventType = found.eventType;
  event->eventData = found.eventData;
  return NVML_SUCCESS;
}
