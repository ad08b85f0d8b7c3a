#include <array>
#include <cstdio>
#include <span>

#include "testing/smi/report.h"

namespace pawl::smi {
namespace {

// A value without its unit, or the code that NVML gave instead.
struct Value {
  nvmlReturn_t code = NVML_SUCCESS;
  std::string text;
};

using TextCall = nvmlReturn_t (*)(nvmlDevice_t, char*, unsigned);
using NumberCall = nvmlReturn_t (*)(nvmlDevice_t, unsigned*);

template <TextCall Call>
Value Text(nvmlDevice_t device) {
  std::array<char, 96> text{};
  const nvmlReturn_t code = Call(device, text.data(), text.size());
  return {code, text.data()};
}

template <NumberCall Call>
Value Number(nvmlDevice_t device) {
  unsigned number = 0;
  const nvmlReturn_t code = Call(device, &number);
  return {code, std::to_string(number)};
}

template <NumberCall Call>
Value Watts(nvmlDevice_t device) {
  unsigned milliwatts = 0;
  const nvmlReturn_t code = Call(device, &milliwatts);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", milliwatts / 1000.0);
  return {code, text.data()};
}

template <NvmlU64 nvmlMemory_v2_t::*Part>
Value Memory(nvmlDevice_t device) {
  constexpr unsigned kMiB = 1 << 20;
  nvmlMemory_v2_t memory{};
  memory.version = NvmlVersionWord<nvmlMemory_v2_t>(2);
  const nvmlReturn_t code = nvmlDeviceGetMemoryInfo_v2(device, &memory);
  return {code, std::to_string(memory.*Part / kMiB)};
}

template <unsigned nvmlUtilization_t::*Part>
Value Utilization(nvmlDevice_t device) {
  nvmlUtilization_t rates{};
  const nvmlReturn_t code = nvmlDeviceGetUtilizationRates(device, &rates);
  return {code, std::to_string(rates.*Part)};
}

template <unsigned Type, bool Max>
Value Clock(nvmlDevice_t device) {
  unsigned mhz = 0;
  const nvmlReturn_t code = Max ? nvmlDeviceGetMaxClockInfo(device, Type, &mhz)
                                : nvmlDeviceGetClockInfo(device, Type, &mhz);
  return {code, std::to_string(mhz)};
}

using ModeCall = nvmlReturn_t (*)(nvmlDevice_t, unsigned*, unsigned*);

template <ModeCall Call, bool Pending>
Value Mode(nvmlDevice_t device) {
  unsigned current = 0;
  unsigned pending = 0;
  const nvmlReturn_t code = Call(device, &current, &pending);
  return {code, (Pending ? pending : current) != 0 ? "Enabled" : "Disabled"};
}

Value PersistenceMode(nvmlDevice_t device) {
  unsigned mode = 0;
  const nvmlReturn_t code = nvmlDeviceGetPersistenceMode(device, &mode);
  return {code, mode != 0 ? "Enabled" : "Disabled"};
}

Value ComputeMode(nvmlDevice_t device) {
  static constexpr const char* kModes[] = {"Default", "Exclusive_Thread", "Prohibited",
                                           "Exclusive_Process"};
  unsigned mode = 0;
  const nvmlReturn_t code = nvmlDeviceGetComputeMode(device, &mode);
  return {code, mode < 4 ? kModes[mode] : "[Unknown Error]"};
}

Value Temperature(nvmlDevice_t device) {
  unsigned degrees = 0;
  const nvmlReturn_t code = nvmlDeviceGetTemperature(device, 0, &degrees);
  return {code, std::to_string(degrees)};
}

Value PerformanceState(nvmlDevice_t device) {
  unsigned state = 0;
  const nvmlReturn_t code = nvmlDeviceGetPerformanceState(device, &state);
  return {code, "P" + std::to_string(state)};
}

Value ComputeCapability(nvmlDevice_t device) {
  int major = 0;
  int minor = 0;
  const nvmlReturn_t code = nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
  return {code, std::to_string(major) + "." + std::to_string(minor)};
}

Value UncorrectedErrors(nvmlDevice_t device) {
  NvmlU64 count = 0;
  const nvmlReturn_t code = nvmlDeviceGetTotalEccErrors(device, 1, 0, &count);
  return {code, std::to_string(count)};
}

Value BusId(nvmlDevice_t device) {
  nvmlPciInfo_t info{};
  const nvmlReturn_t code = nvmlDeviceGetPciInfo_v3(device, &info);
  return {code, info.busId};
}

template <unsigned nvmlPciInfo_t::*Part, int Digits>
Value PciNumber(nvmlDevice_t device) {
  nvmlPciInfo_t info{};
  const nvmlReturn_t code = nvmlDeviceGetPciInfo_v3(device, &info);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%0*X", Digits, info.*Part);
  return {code, text.data()};
}

Value Driver(nvmlDevice_t) { return {NVML_SUCCESS, DriverVersion()}; }

Value Count(nvmlDevice_t) {
  unsigned count = 0;
  const nvmlReturn_t code = nvmlDeviceGetCount_v2(&count);
  return {code, std::to_string(count)};
}

struct Field {
  const char* name;
  const char* other_name;  // or null
  const char* unit;
  Value (*read)(nvmlDevice_t);
};

constexpr Field kFields[] = {
    {"index", nullptr, "", Number<nvmlDeviceGetIndex>},
    {"uuid", "gpu_uuid", "", Text<nvmlDeviceGetUUID>},
    {"name", "gpu_name", "", Text<nvmlDeviceGetName>},
    {"serial", "gpu_serial", "", Text<nvmlDeviceGetSerial>},
    {"count", nullptr, "", Count},
    {"driver_version", nullptr, "", Driver},
    {"vbios_version", nullptr, "", Text<nvmlDeviceGetVbiosVersion>},
    {"pci.bus_id", "gpu_bus_id", "", BusId},
    {"pci.domain", nullptr, "", PciNumber<&nvmlPciInfo_t::domain, 4>},
    {"pci.bus", nullptr, "", PciNumber<&nvmlPciInfo_t::bus, 2>},
    {"pci.device", nullptr, "", PciNumber<&nvmlPciInfo_t::device, 2>},
    {"pci.device_id", nullptr, "", PciNumber<&nvmlPciInfo_t::pciDeviceId, 8>},
    {"pci.sub_device_id", nullptr, "", PciNumber<&nvmlPciInfo_t::pciSubSystemId, 8>},
    {"pcie.link.gen.current", nullptr, "", Number<nvmlDeviceGetCurrPcieLinkGeneration>},
    {"pcie.link.width.current", nullptr, "", Number<nvmlDeviceGetCurrPcieLinkWidth>},
    {"memory.total", nullptr, "MiB", Memory<&nvmlMemory_v2_t::total>},
    {"memory.reserved", nullptr, "MiB", Memory<&nvmlMemory_v2_t::reserved>},
    {"memory.used", nullptr, "MiB", Memory<&nvmlMemory_v2_t::used>},
    {"memory.free", nullptr, "MiB", Memory<&nvmlMemory_v2_t::free>},
    {"temperature.gpu", nullptr, "", Temperature},
    {"fan.speed", nullptr, "%", Number<nvmlDeviceGetFanSpeed>},
    {"utilization.gpu", nullptr, "%", Utilization<&nvmlUtilization_t::gpu>},
    {"utilization.memory", nullptr, "%", Utilization<&nvmlUtilization_t::memory>},
    {"power.draw", nullptr, "W", Watts<nvmlDeviceGetPowerUsage>},
    {"power.limit", nullptr, "W", Watts<nvmlDeviceGetEnforcedPowerLimit>},
    {"pstate", nullptr, "", PerformanceState},
    {"persistence_mode", nullptr, "", PersistenceMode},
    {"compute_mode", nullptr, "", ComputeMode},
    {"compute_cap", nullptr, "", ComputeCapability},
    {"clocks.gr", "clocks.current.graphics", "MHz", Clock<0, false>},
    {"clocks.sm", "clocks.current.sm", "MHz", Clock<1, false>},
    {"clocks.mem", "clocks.current.memory", "MHz", Clock<2, false>},
    {"clocks.max.gr", "clocks.max.graphics", "MHz", Clock<0, true>},
    {"clocks.max.sm", nullptr, "MHz", Clock<1, true>},
    {"clocks.max.mem", "clocks.max.memory", "MHz", Clock<2, true>},
    {"ecc.mode.current", nullptr, "", Mode<nvmlDeviceGetEccMode, false>},
    {"ecc.mode.pending", nullptr, "", Mode<nvmlDeviceGetEccMode, true>},
    {"ecc.errors.uncorrected.volatile.total", nullptr, "", UncorrectedErrors},
    {"mig.mode.current", nullptr, "", Mode<nvmlDeviceGetMigMode, false>},
    {"mig.mode.pending", nullptr, "", Mode<nvmlDeviceGetMigMode, true>},
};

const Field* FindField(const std::string& name) {
  for (const Field& field : kFields) {
    if (name == field.name || (field.other_name != nullptr && name == field.other_name))
      return &field;
  }
  return nullptr;
}

std::string Render(const Field& field, nvmlDevice_t device, bool units) {
  const Value value = field.read(device);
  if (value.code == NVML_ERROR_NOT_SUPPORTED) return "[N/A]";
  if (value.code != NVML_SUCCESS) return std::string("[") + nvmlErrorString(value.code) + "]";
  return units && *field.unit != '\0' ? value.text + " " + field.unit : value.text;
}

}  // namespace

std::optional<std::string> UnknownField(const std::vector<std::string>& fields) {
  for (const std::string& name : fields) {
    if (FindField(name) == nullptr) return name;
  }
  return std::nullopt;
}

std::string RenderQuery(const std::vector<nvmlDevice_t>& devices, const Options& options) {
  std::string out;
  const auto put_line = [&](auto cell_of) {
    for (std::size_t i = 0; i < options.fields.size(); ++i) {
      if (i > 0) out += ", ";
      out += cell_of(options.fields[i]);
    }
    out += '\n';
  };
  if (options.header) {
    put_line([](const std::string& name) {
      const Field& field = *FindField(name);
      return *field.unit == '\0' ? name : name + " [" + field.unit + "]";
    });
  }
  for (nvmlDevice_t device : devices) {
    put_line(
        [&](const std::string& name) { return Render(*FindField(name), device, options.units); });
  }
  return out;
}

}  // namespace pawl::smi
