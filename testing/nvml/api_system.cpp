// Loading, the system as a whole, and enumeration: spec/nvml.md §3.1.
#include <cstdio>
#include <string>

#include "testing/nvml/session.h"

using namespace pawl::stand_in;

namespace {

const char* ErrorText(nvmlReturn_t code) {
  switch (code) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NO_PERMISSION:
      return "Insufficient Permissions";
    case NVML_ERROR_ALREADY_INITIALIZED:
      return "Already Initialized";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_INSUFFICIENT_POWER:
      return "Insufficient External Power";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT:
      return "Timeout";
    case NVML_ERROR_IRQ_ISSUE:
      return "Interrupt Request Issue";
    case NVML_ERROR_LIBRARY_NOT_FOUND:
      return "NVML Shared Library Not Found";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
      return "Function Not Found";
    case NVML_ERROR_CORRUPTED_INFOROM:
      return "Corrupted infoROM";
    case NVML_ERROR_GPU_IS_LOST:
      return "GPU is lost";
    case NVML_ERROR_RESET_REQUIRED:
      return "GPU requires reset";
    case NVML_ERROR_OPERATING_SYSTEM:
      return "GPU access blocked by the operating system";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "Driver/library version mismatch";
    case NVML_ERROR_IN_USE:
      return "In use by another client";
    case NVML_ERROR_MEMORY:
      return "Insufficient Memory";
    case NVML_ERROR_NO_DATA:
      return "No data";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
      return "Argument version mismatch";
    case NVML_ERROR_NOT_READY:
      return "Not ready";
    case NVML_ERROR_GPU_NOT_FOUND:
      return "No GPUs were found";
    case NVML_ERROR_UNKNOWN:
      break;
  }
  return "Unknown Error";
}

nvmlReturn_t Count(const char* function, unsigned* count) {
  return OnSystem(function,
                  [&](const Session& session) { return Put(count, session.devices.size()); });
}

// Finds a GPU by a test and hands out its handle, unless the GPU is lost.
template <typename Test>
nvmlReturn_t HandleWhere(const char* function, nvmlDevice_t* out, Test test) {
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return OnSystem(function, [&](Session& session) {
    for (nvmlDevice_st& device : session.devices) {
      if (!test(device)) continue;
      if (const auto fault = session.MeetHandleFault(function, device)) return *fault;
      *out = &device;
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

nvmlReturn_t ByIndex(const char* function, unsigned index, nvmlDevice_t* out) {
  const nvmlReturn_t found = HandleWhere(
      function, out, [&](const nvmlDevice_st& device) { return device.index == index; });
  return found == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : found;
}

// "00000000:1B:00.0", with any number of domain digits or no domain at all.
nvmlReturn_t ByBusId(const char* function, const char* text, nvmlDevice_t* out) {
  if (text == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    if (std::sscanf(text, "%x:%x", &bus, &slot) != 2) return NVML_ERROR_INVALID_ARGUMENT;
  }
  return HandleWhere(function, out, [&](const nvmlDevice_st& device) {
    return device.gpu->domain == domain && device.gpu->bus == bus && device.gpu->device == slot;
  });
}

}  // namespace

PAWL_NVML_API nvmlReturn_t nvmlInit() { return Attach(__func__, true); }
PAWL_NVML_API nvmlReturn_t nvmlInit_v2() { return Attach(__func__, false); }
// The flags (no GPUs is no failure, do not attach, force) ask for what is done anyway.
PAWL_NVML_API nvmlReturn_t nvmlInitWithFlags(unsigned) { return Attach(__func__, false); }
PAWL_NVML_API nvmlReturn_t nvmlShutdown() { return Detach(); }
PAWL_NVML_API const char* nvmlErrorString(nvmlReturn_t code) { return ErrorText(code); }

PAWL_NVML_API nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return OnSystem(__func__, [&](const Session& session) {
    return PutText(session.profile.driver, text, length);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return OnSystem(__func__, [&](const Session& session) {
    return PutText(std::to_string(session.profile.cuda / 1000) + "." + session.profile.driver, text,
                   length);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return OnSystem(__func__,
                  [&](const Session& session) { return Put(version, session.profile.cuda); });
}

PAWL_NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return OnSystem(__func__,
                  [&](const Session& session) { return Put(version, session.profile.cuda); });
}

// No process ever uses these GPUs.
PAWL_NVML_API nvmlReturn_t nvmlSystemGetProcessName(unsigned, char*, unsigned) {
  return OnSystem(__func__, [](const Session&) { return NVML_ERROR_NOT_FOUND; });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return Count(__func__, count); }
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) { return Count(__func__, count); }

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return ByIndex(__func__, index, device);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return ByIndex(__func__, index, device);
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (uuid == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return HandleWhere(__func__, device,
                     [&](const nvmlDevice_st& candidate) { return candidate.gpu->uuid == uuid; });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) {
  if (serial == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return HandleWhere(__func__, device, [&](const nvmlDevice_st& candidate) {
    return candidate.gpu->serial == serial;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) {
  return ByBusId(__func__, bus_id, device);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id,
                                                            nvmlDevice_t* device) {
  return ByBusId(__func__, bus_id, device);
}

PAWL_NVML_API nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count) {
  return OnSystem(__func__, [&](const Session&) { return Put(count, 0); });
}
PAWL_NVML_API nvmlReturn_t nvmlGetExcludedDeviceInfoByIndex(unsigned, nvmlExcludedDeviceInfo_t*) {
  return OnSystem(__func__, [](const Session&) { return NVML_ERROR_INVALID_ARGUMENT; });
}

// The machine is neither trusted-computing hardware nor set up as such.
PAWL_NVML_API nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* state) {
  return OnSystem(__func__,
                  [&](const Session&) { return Put(state, nvmlConfComputeSystemState_t{}); });
}
PAWL_NVML_API nvmlReturn_t
nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t* capabilities) {
  return OnSystem(__func__,
                  [&](const Session&) { return Put(capabilities, nvmlConfComputeSystemCaps_t{}); });
}
