#include <array>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "testing/smi/report.h"

namespace pawl::smi {
namespace {

__attribute__((format(printf, 1, 2))) std::string Format(const char* format, ...) {
  std::array<char, 256> text{};
  va_list arguments;
  va_start(arguments, format);
  // clang 14's analyzer does not see va_start here.
  std::vsnprintf(text.data(), text.size(), format, arguments);  // NOLINT(clang-analyzer-valist.*)
  va_end(arguments);
  return text.data();
}

using TextCall = nvmlReturn_t (*)(nvmlDevice_t, char*, unsigned);

std::string TextOf(TextCall call, nvmlDevice_t device) {
  std::array<char, 96> text{};
  const nvmlReturn_t code = call(device, text.data(), text.size());
  return code == NVML_SUCCESS ? std::string(text.data()) : nvmlErrorString(code);
}

std::string PowerOf(nvmlDevice_t device) {
  unsigned usage = 0;
  unsigned limit = 0;
  const std::string left =
      nvmlDeviceGetPowerUsage(device, &usage) == NVML_SUCCESS ? Format("%uW", usage / 1000) : "N/A";
  const std::string right = nvmlDeviceGetEnforcedPowerLimit(device, &limit) == NVML_SUCCESS
                                ? Format("%uW", limit / 1000)
                                : "N/A";
  return Format("%s / %6s", left.c_str(), right.c_str());
}

std::string MemoryOf(nvmlDevice_t device) {
  constexpr unsigned kMiB = 1 << 20;
  nvmlMemory_v2_t memory{};
  memory.version = NvmlVersionWord<nvmlMemory_v2_t>(2);
  if (nvmlDeviceGetMemoryInfo_v2(device, &memory) != NVML_SUCCESS) return "N/A";
  return Format("%lluMiB / %6lluMiB", memory.used / kMiB, memory.total / kMiB);
}

std::string TemperatureOf(nvmlDevice_t device) {
  unsigned degrees = 0;
  return nvmlDeviceGetTemperature(device, 0, &degrees) == NVML_SUCCESS ? Format("%uC", degrees)
                                                                       : "N/A";
}

std::string FanOf(nvmlDevice_t device) {
  unsigned percent = 0;
  return nvmlDeviceGetFanSpeed(device, &percent) == NVML_SUCCESS ? Format("%u%%", percent) : "N/A";
}

std::string UtilizationOf(nvmlDevice_t device) {
  nvmlUtilization_t rates{};
  return nvmlDeviceGetUtilizationRates(device, &rates) == NVML_SUCCESS ? Format("%u%%", rates.gpu)
                                                                       : "N/A";
}

std::string ComputeModeOf(nvmlDevice_t device) {
  static constexpr const char* kModes[] = {"Default", "E. Thread", "Prohibited", "E. Process"};
  unsigned mode = 0;
  return nvmlDeviceGetComputeMode(device, &mode) == NVML_SUCCESS && mode < 4 ? kModes[mode] : "N/A";
}

std::string EccOf(nvmlDevice_t device) {
  NvmlU64 count = 0;
  return nvmlDeviceGetTotalEccErrors(device, 1, 0, &count) == NVML_SUCCESS ? Format("%llu", count)
                                                                           : "N/A";
}

std::string MigOf(nvmlDevice_t device) {
  unsigned current = 0;
  unsigned pending = 0;
  if (nvmlDeviceGetMigMode(device, &current, &pending) != NVML_SUCCESS) return "N/A";
  return current != 0 ? "Enabled" : "Disabled";
}

std::string Rows(nvmlDevice_t device) {
  unsigned index = 0;
  unsigned persistence = 0;
  unsigned state = 32;
  nvmlPciInfo_t pci{};
  nvmlDeviceGetIndex(device, &index);
  nvmlDeviceGetPersistenceMode(device, &persistence);
  nvmlDeviceGetPerformanceState(device, &state);
  nvmlDeviceGetPciInfo_v3(device, &pci);
  std::string out = Format(
      "| %3u  %-27.27s%7s | %18s %3s | %20s |\n", index, TextOf(nvmlDeviceGetName, device).c_str(),
      persistence != 0 ? "On" : "Off", pci.busId, "Off", EccOf(device).c_str());
  out += Format("| %3s %5s    P%-2u %22s | %22s | %8s  %10s |\n", FanOf(device).c_str(),
                TemperatureOf(device).c_str(), state, PowerOf(device).c_str(),
                MemoryOf(device).c_str(), UtilizationOf(device).c_str(),
                ComputeModeOf(device).c_str());
  out += Format("| %39s | %22s | %20s |\n", "", "", MigOf(device).c_str());
  return out +
         "+-----------------------------------------+------------------------+---------------------"
         "-+\n";
}

constexpr const char* kColumns =
    "|-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                        |               MIG M. |\n"
    "|=========================================+========================+======================|\n";
constexpr const char* kBorder =
    "+-----------------------------------------------------------------------------------------+\n";
constexpr const char* kProcesses =
    "| Processes:                                                                              |\n"
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
    "|        ID   ID                                                               Usage      |\n"
    "|=========================================================================================|\n"
    "|  No running processes found                                                             |\n";

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a %b %e %H:%M:%S %Y", &local);
  return text.data();
}

}  // namespace

std::string DriverVersion() {
  std::array<char, 80> text{};
  return nvmlSystemGetDriverVersion(text.data(), text.size()) == NVML_SUCCESS ? text.data() : "N/A";
}

std::string CudaVersion() {
  int version = 0;
  if (nvmlSystemGetCudaDriverVersion(&version) != NVML_SUCCESS) return "N/A";
  return Format("%d.%d", version / 1000, version % 1000 / 10);
}

// The library says "12.550.163.01"; people see the driver's first two parts.
std::string NvmlVersion() {
  std::array<char, 80> text{};
  if (nvmlSystemGetNVMLVersion(text.data(), text.size()) != NVML_SUCCESS) return "N/A";
  std::string version = text.data();
  version.erase(0, version.find('.') + 1);
  const std::size_t first = version.find('.');
  return version.substr(0, version.find('.', first + 1));
}

std::string RenderTable(const std::vector<nvmlDevice_t>& devices) {
  const std::string driver = DriverVersion();
  std::string out = Now() + "       \n" + kBorder;
  out += Format("| NVIDIA-SMI %-23sDriver Version: %-15sCUDA Version: %-9s|\n", driver.c_str(),
                driver.c_str(), CudaVersion().c_str());
  out += kColumns;
  for (nvmlDevice_t device : devices) out += Rows(device);
  return out + std::string(91, ' ') + "\n" + kBorder + kProcesses + kBorder;
}

std::string RenderList(const std::vector<nvmlDevice_t>& devices) {
  std::string out;
  for (nvmlDevice_t device : devices) {
    unsigned index = 0;
    nvmlDeviceGetIndex(device, &index);
    out += Format("GPU %u: %s (UUID: %s)\n", index, TextOf(nvmlDeviceGetName, device).c_str(),
                  TextOf(nvmlDeviceGetUUID, device).c_str());
  }
  return out;
}

}  // namespace pawl::smi
