// Memory, clocks, heat, power, PCIe, utilisation, processes: spec/nvml.md §3.3 and §3.8. An idle
// GPU: the figures are the profile's and do not move, but energy, which grows with time at the
// profile's power.
#include <chrono>
#include <ctime>

#include "testing/nvml/readings.h"

using namespace pawl::stand_in;

namespace {

constexpr unsigned kEncoderPeriodUs = 167'000;

// One figure of the board.
template <typename Figure>
nvmlReturn_t Read(const char* function, nvmlDevice_t handle, unsigned* out, Figure figure) {
  return OnGpu(function, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(out, figure(*device.model));
  });
}

nvmlReturn_t Constant(const char* function, nvmlDevice_t handle, unsigned* out, unsigned value) {
  return Read(function, handle, out, [&](const Model&) { return value; });
}

nvmlReturn_t Clock(const char* function, nvmlDevice_t handle, const Clocks Model::*clocks,
                   unsigned type, unsigned* mhz) {
  return OnGpu(function, handle, [&](const nvmlDevice_st& device, const Session&) {
    const Clocks& now = device.model->*clocks;
    const unsigned values[] = {now.graphics, now.sm, now.memory, now.video};
    return type > 3 ? NVML_ERROR_INVALID_ARGUMENT : Put(mhz, values[type]);
  });
}

nvmlReturn_t ClockReasons(const char* function, nvmlDevice_t handle, NvmlU64 mask, NvmlU64* out) {
  return OnGpu(function, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(out, mask); });
}

nvmlReturn_t EngineUse(const char* function, nvmlDevice_t handle, unsigned* percent,
                       unsigned* period_us) {
  return OnGpu(function, handle, [&](const nvmlDevice_st&, const Session&) {
    return Put(percent, 0, period_us, kEncoderPeriodUs);
  });
}

// No process uses these GPUs.
nvmlReturn_t NoProcesses(const char* function, nvmlDevice_t handle, unsigned* count) {
  return OnGpu(function, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(count, 0); });
}

constexpr NvmlU64 kReasonIdle = 0x1;
constexpr NvmlU64 kReasonsSupported = 0x1ff;

}  // namespace

namespace pawl::stand_in {

std::uint64_t EnergyMillijoules(const Model& model) {
  timespec since_boot{};
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto ms = static_cast<std::uint64_t>(since_boot.tv_sec) * 1000 +
                  static_cast<std::uint64_t>(since_boot.tv_nsec) / 1'000'000;
  return ms * model.power.usage / 1000;
}

long long NowMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace pawl::stand_in

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    const Model& model = *device.model;
    return Put(memory, nvmlMemory_t{.total = model.memory_bytes,
                                    .free = model.memory_bytes - model.reserved_bytes,
                                    .used = model.reserved_bytes});
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle,
                                                      nvmlMemory_v2_t* memory) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    constexpr unsigned kWord = NvmlVersionWord<nvmlMemory_v2_t>(2);
    if (memory == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != kWord) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const Model& model = *device.model;
    *memory = {.version = kWord,
               .total = model.memory_bytes,
               .reserved = model.reserved_bytes,
               .free = model.memory_bytes - model.reserved_bytes,
               .used = 0};
    return NVML_SUCCESS;
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t handle,
                                                       nvmlBAR1Memory_t* memory) {
  constexpr NvmlU64 kMapped = 3ULL << 20;
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    const NvmlU64 total = device.model->bar1_bytes;
    return Put(memory, nvmlBAR1Memory_t{.total = total, .free = total - kMapped, .used = kMapped});
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type,
                                                  unsigned* mhz) {
  return Clock(__func__, device, &Model::clocks, type, mhz);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type,
                                                     unsigned* mhz) {
  return Clock(__func__, device, &Model::clocks_max, type, mhz);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, unsigned type,
                                                          unsigned* mhz) {
  return Clock(__func__, device, &Model::clocks_max, type, mhz);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, unsigned type, unsigned id,
                                              unsigned* mhz) {
  if (id > 3) return NVML_ERROR_INVALID_ARGUMENT;
  return Clock(__func__, device, id == 0 ? &Model::clocks : &Model::clocks_max, type, mhz);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                                  NvmlU64* reasons) {
  return ClockReasons(__func__, device, kReasonIdle, reasons);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                                     NvmlU64* reasons) {
  return ClockReasons(__func__, device, kReasonIdle, reasons);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device,
                                                                    NvmlU64* reasons) {
  return ClockReasons(__func__, device, kReasonsSupported, reasons);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device,
                                                                       NvmlU64* reasons) {
  return ClockReasons(__func__, device, kReasonsSupported, reasons);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, unsigned* state) {
  return Read(__func__, device, state, [](const Model& model) { return model.performance_state; });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor,
                                                    unsigned* degrees) {
  if (sensor != 0) return NVML_ERROR_INVALID_ARGUMENT;
  return Read(__func__, device, degrees, [](const Model& model) { return model.temperatures.now; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t handle,
                                                     nvmlTemperature_v1_t* temperature) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (temperature == nullptr || temperature->sensorType != 0) return NVML_ERROR_INVALID_ARGUMENT;
    if (temperature->version != NvmlVersionWord<nvmlTemperature_v1_t>(1))
      return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return Put(&temperature->temperature, device.model->temperatures.now);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t handle, unsigned kind,
                                                             unsigned* degrees) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    const Temperatures& limits = device.model->temperatures;
    switch (kind) {
      case 0:
        return Put(degrees, limits.shutdown);
      case 1:
        return Put(degrees, limits.slowdown);
      case 3:
        return Put(degrees, limits.gpu_max);
      default:
        return kind > 7 ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NOT_SUPPORTED;
    }
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t handle,
                                                          nvmlMarginTemperature_v1_t* margin) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (margin == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (margin->version != NvmlVersionWord<nvmlMarginTemperature_v1_t>(1))
      return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const Temperatures& degrees = device.model->temperatures;
    return Put(&margin->marginTemperature, degrees.slowdown - degrees.now);
  });
}
// Data-centre boards have no fan of their own.
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned*) {
  return OnGpu(__func__, device,
               [](const nvmlDevice_st&, const Session&) { return NVML_ERROR_NOT_SUPPORTED; });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  return Read(__func__, device, milliwatts, [](const Model& model) { return model.power.usage; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device,
                                                           unsigned* milliwatts) {
  return Read(__func__, device, milliwatts, [](const Model& model) { return model.power.limit; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device,
                                                             unsigned* milliwatts) {
  return Read(__func__, device, milliwatts, [](const Model& model) { return model.power.limit; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device,
                                                                    unsigned* milliwatts) {
  return Read(__func__, device, milliwatts, [](const Model& model) { return model.power.limit; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, unsigned* mode) {
  return Constant(__func__, device, mode, 1);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t handle,
                                                                        unsigned* min,
                                                                        unsigned* max) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(min, device.model->power.min, max, device.model->power.max);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t handle,
                                                               NvmlU64* millijoules) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(millijoules, EnergyMillijoules(*device.model));
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle,
                                                         nvmlUtilization_t* rates) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st&, const Session&) {
    return Put(rates, nvmlUtilization_t{});
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* percent,
                                                           unsigned* period_us) {
  return EngineUse(__func__, device, percent, period_us);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* percent,
                                                           unsigned* period_us) {
  return EngineUse(__func__, device, percent, period_us);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned* percent,
                                                       unsigned* period_us) {
  return EngineUse(__func__, device, percent, period_us);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned* percent,
                                                       unsigned* period_us) {
  return EngineUse(__func__, device, percent, period_us);
}
// One sample a call, of now.
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t handle, unsigned kind,
                                                NvmlU64 last_seen_us, unsigned* value_type,
                                                unsigned* count, nvmlSample_t* samples) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (kind > 9 || value_type == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const auto now = static_cast<NvmlU64>(NowMicroseconds());
    if (now <= last_seen_us) return NVML_ERROR_NOT_FOUND;
    const Model& model = *device.model;
    nvmlSample_t sample{.timeStamp = now, .sampleValue = {}};
    if (kind == 0) sample.sampleValue.uiVal = model.power.usage;
    if (kind == 5) sample.sampleValue.uiVal = model.clocks.sm;
    if (kind == 6) sample.sampleValue.uiVal = model.clocks.memory;
    *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
    return PutArray(std::vector<nvmlSample_t>{sample}, samples, count);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned direction,
                                                       unsigned* kib_per_second) {
  if (direction > 1) return NVML_ERROR_INVALID_ARGUMENT;
  return Constant(__func__, device, kib_per_second, 0);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* count) {
  return Constant(__func__, device, count, 0);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device,
                                                               unsigned* generation) {
  return Read(__func__, device, generation,
              [](const Model& model) { return model.pcie_generation; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device,
                                                              unsigned* generation) {
  return Read(__func__, device, generation,
              [](const Model& model) { return model.pcie_generation; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device,
                                                                 unsigned* generation) {
  return Read(__func__, device, generation,
              [](const Model& model) { return model.pcie_generation; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* width) {
  return Read(__func__, device, width, [](const Model& model) { return model.pcie_width; });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* width) {
  return Read(__func__, device, width, [](const Model& model) { return model.pcie_width; });
}

#define PAWL_NO_PROCESSES(NAME, ARRAY)                                           \
  PAWL_NVML_API nvmlReturn_t NAME(nvmlDevice_t device, unsigned* count, ARRAY) { \
    return NoProcesses(#NAME, device, count);                                    \
  }

PAWL_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_t*)
PAWL_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t*)

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                                           nvmlProcessUtilizationSample_t*,
                                                           unsigned* count, NvmlU64) {
  return OnGpu(__func__, device, [&](const nvmlDevice_st&, const Session&) {
    const nvmlReturn_t put = Put(count, 0);
    return put == NVML_SUCCESS ? NVML_ERROR_NOT_FOUND : put;
  });
}
