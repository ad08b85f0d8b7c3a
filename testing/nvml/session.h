// The state behind the C interface: what one nvmlInit attached, until the matching nvmlShutdown.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/hardware/profile.h"
#include "testing/nvml/faults.h"
#include "testing/nvml/nvml_abi.h"

// A GPU that was attached. The handle is its address.
struct nvmlDevice_st {
  const pawl::stand_in::Gpu* gpu;
  const pawl::stand_in::Model* model;
  unsigned index;  // NVML's: position among those attached
};

namespace pawl::stand_in {

// What opening a device node of the driver says about it.
enum class NodeState {
  kPresent,    // character device of major 195 that opens, or says ENXIO: no such hardware below
  kAbsent,     // there is no such node
  kDenied,     // EACCES: file permissions or a mount without devices
  kForbidden,  // EPERM: the container's device rules
};
NodeState LookAtNode(const std::string& path);

class EventSet;

struct Session {
  Session();

  Profile profile;
  std::vector<nvmlDevice_st> devices;  // fixed from here on
  FaultFile faults;
  std::mutex event_mutex;
  std::map<nvmlEventSet_t, std::shared_ptr<EventSet>> event_sets;

  // Null for a handle that is not of this session.
  const nvmlDevice_st* Find(nvmlDevice_t handle) const;
  nvmlDevice_st* HandleOf(std::size_t index) { return &devices[index]; }
  // The attached device of Profile::gpus[position]; null if it is hidden.
  const nvmlDevice_st* AtPosition(int position) const;

  // The code of a fault that this call meets, nothing if it meets none. May not return.
  std::optional<nvmlReturn_t> MeetFault(const char* function, const nvmlDevice_st* device);
  // The same for getting the handle of `device`: faults of all its functions do not count.
  std::optional<nvmlReturn_t> MeetHandleFault(const char* function, const nvmlDevice_st& device);
};

// Counts references. `strict`: a bad GPU fails the call, as nvmlInit did before version 2.
nvmlReturn_t Attach(const char* function, bool strict);
nvmlReturn_t Detach();
std::shared_ptr<Session> CurrentSession();  // null before nvmlInit

// The folder that this library was loaded from; empty if the loader does not tell.
std::string LibraryFolder();

// How every exported function begins: is NVML initialised, does the call meet a fault.
template <typename Body>
nvmlReturn_t OnSystem(const char* function, Body body) {
  const std::shared_ptr<Session> session = CurrentSession();
  if (!session) return NVML_ERROR_UNINITIALIZED;
  if (const auto fault = session->MeetFault(function, nullptr)) return *fault;
  return body(*session);
}

// The same for a function of one GPU: Body(const nvmlDevice_st&, Session&).
template <typename Body>
nvmlReturn_t OnGpu(const char* function, nvmlDevice_t handle, Body body) {
  const std::shared_ptr<Session> session = CurrentSession();
  if (!session) return NVML_ERROR_UNINITIALIZED;
  const nvmlDevice_st* const device = session->Find(handle);
  if (device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (const auto fault = session->MeetFault(function, device)) return *fault;
  return body(*device, *session);
}

// Writes results through the caller's pointers; a null pointer is an invalid argument and nothing
// is written.
template <typename Out, typename Value>
nvmlReturn_t Put(Out* out, const Value& value) {
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *out = static_cast<Out>(value);
  return NVML_SUCCESS;
}
template <typename OutA, typename A, typename OutB, typename B>
nvmlReturn_t Put(OutA* a, const A& value_a, OutB* b, const B& value_b) {
  if (a == nullptr || b == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *a = static_cast<OutA>(value_a);
  *b = static_cast<OutB>(value_b);
  return NVML_SUCCESS;
}

// Text with its final zero; code 7 if `length` is too small.
nvmlReturn_t PutText(const std::string& text, char* out, unsigned length);

// Fills an array by count and fill (spec/nvml.md §2): code 7 and the needed count if `count` is too
// small.
template <typename T>
nvmlReturn_t PutArray(const std::vector<T>& values, T* out, unsigned* count) {
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const auto needed = static_cast<unsigned>(values.size());
  const bool fits = needed == 0 || (out != nullptr && *count >= needed);
  *count = needed;
  if (!fits) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < needed; ++i) out[i] = values[i];
  return NVML_SUCCESS;
}

}  // namespace pawl::stand_in
