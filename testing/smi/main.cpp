// nvidia-smi: a stand-in for the program of the driver. It knows nothing but what libnvidia-ml.so.1
// tells, and is linked to that by its SONAME: whether it starts at all in a container shows whether
// the library was put there rightly.
//
// Exit codes are the real one's: 0; 1 bad arguments; 2 an unknown field; 6 no such GPU, or none;
// else NVML's code.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "testing/nvml/nvml_abi.h"
#include "testing/smi/options.h"
#include "testing/smi/report.h"

namespace pawl::smi {
namespace {

constexpr const char* kHelp =
    "NVIDIA System Management Interface, a stand-in for tests.\n\n"
    "nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...\n\n"
    "    -h,   --help             Print usage information and exit.\n"
    "          --version          Print version information and exit.\n"
    "    -L,   --list-gpus        Display a list of GPUs connected to the system.\n"
    "    -i,   --id=              Target specific GPUs: index, UUID or PCI bus id, separated by "
    "commas.\n"
    "          --query-gpu=       Information about GPU, with --format=csv[,noheader][,nounits].\n";

int ExitCode(nvmlReturn_t code) { return std::min<int>(code, 255); }

int ReportInit(nvmlReturn_t code) {
  if (code == NVML_ERROR_DRIVER_NOT_LOADED) {
    std::printf(
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
        "that the latest NVIDIA "
        "driver is installed and running.\n\n");
  } else {
    std::printf("Failed to initialize NVML: %s\n", nvmlErrorString(code));
  }
  return ExitCode(code);
}

nvmlReturn_t Find(const std::string& name, nvmlDevice_t* device) {
  if (name.find_first_not_of("0123456789") == std::string::npos && name.size() < 4) {
    return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(std::stoul(name)), device);
  }
  if (name.starts_with("GPU-") || name.starts_with("MIG-"))
    return nvmlDeviceGetHandleByUUID(name.c_str(), device);
  return nvmlDeviceGetHandleByPciBusId_v2(name.c_str(), device);
}

// The GPUs asked for, or all. An exit code that is not 0: said why, leave.
int Select(const Options& options, std::vector<nvmlDevice_t>& devices) {
  std::vector<std::string> names = options.gpus;
  if (names.empty()) {
    unsigned count = 0;
    const nvmlReturn_t counted = nvmlDeviceGetCount_v2(&count);
    if (counted != NVML_SUCCESS) return ReportInit(counted);
    for (unsigned i = 0; i < count; ++i) names.push_back(std::to_string(i));
  }
  for (const std::string& name : names) {
    nvmlDevice_t device = nullptr;
    const nvmlReturn_t found = Find(name, &device);
    if (found == NVML_ERROR_GPU_IS_LOST) {
      std::printf(
          "Unable to determine the device handle for GPU%s: GPU is lost.  Reboot the system to "
          "recover this GPU\n",
          name.c_str());
      return ExitCode(found);
    }
    if (found != NVML_SUCCESS) continue;
    devices.push_back(device);
  }
  if (!devices.empty()) return 0;
  std::printf("No devices were found\n");
  return NVML_ERROR_NOT_FOUND;
}

int PrintVersion() {
  const std::string driver = DriverVersion();
  std::printf(
      "NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version  "
      "      : %s\n",
      driver.c_str(), NvmlVersion().c_str(), driver.c_str(), CudaVersion().c_str());
  return 0;
}

int Report(const Options& options) {
  if (options.mode == Mode::kVersion) return PrintVersion();
  std::vector<nvmlDevice_t> devices;
  if (const int failed = Select(options, devices); failed != 0) return failed;
  std::string out;
  if (options.mode == Mode::kList) out = RenderList(devices);
  if (options.mode == Mode::kQuery) out = RenderQuery(devices, options);
  if (options.mode == Mode::kTable) out = RenderTable(devices);
  std::fputs(out.c_str(), stdout);
  return 0;
}

int Run(const Options& options) {
  if (!options.error.empty()) {
    std::fputs(options.error.c_str(), stdout);
    return 1;
  }
  if (options.mode == Mode::kHelp) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (const auto unknown = UnknownField(options.fields)) {
    std::printf("Field \"%s\" is not a valid field to query.\n\n", unknown->c_str());
    return 2;
  }
  if (const nvmlReturn_t started = nvmlInit_v2(); started != NVML_SUCCESS)
    return ReportInit(started);
  const int code = Report(options);
  nvmlShutdown();
  return code;
}

}  // namespace
}  // namespace pawl::smi

int main(int argc, char** argv) { return pawl::smi::Run(pawl::smi::ParseOptions(argc, argv)); }
