// An NVML for tests: a table of symbols over GPUs that are plain values, with a folder of files
// that tells it to misbehave, also from another process and while it runs:
//   hang-CALL, hang-CALL-INDEX    the call never returns
//   crash-CALL, crash-CALL-INDEX  the call ends the process by SIGSEGV
//   code-CALL, code-CALL-INDEX    the call returns the number in the file
//   events                        a FIFO: a line "INDEX TYPE DATA" is an event
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "gpu/model.h"
#include "gpu/nvml.h"

namespace pawl::gpu {

struct FakeGpu {
  std::string uuid;
  std::string name = "NVIDIA T4";
  PciAddress pci;
  uint32_t minor = 0;
  uint32_t pci_device_id = 0x1EB810DE;
  uint64_t memory = 17179869184;
  int compute_major = 7;
  int compute_minor = 5;
  std::optional<bool> mig;
  std::optional<nvml::GpuFabricInfo> fabric;
  std::map<uint32_t, PciAddress> nvlinks;  // link number → where it ends
};

// The state behind the symbols. C functions need a global; it is the test program's.
struct FakeNvml {
  std::string driver = "550.107.02";
  int cuda = 12040;
  std::vector<FakeGpu> gpus;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> levels;  // else 30, host bridge
  std::set<std::string> missing;                             // symbols that the library lacks
  uint64_t supported_events = 0xB;
  std::string folder;
  std::vector<std::string> calls;  // each call made, in order

  static FakeNvml& Get() {
    static FakeNvml fake;
    return fake;
  }

  // Four T4 in two pairs, as in a common server; minors are not in the order of the indexes.
  static FakeNvml FourT4() {
    FakeNvml fake;
    for (uint32_t i = 0; i < 4; ++i) {
      FakeGpu gpu;
      gpu.uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(i);
      gpu.pci = {.domain = 0, .bus = 0x3b + i, .device = 0};
      gpu.minor = 3 - i;
      fake.gpus.push_back(gpu);
    }
    fake.levels[{0, 1}] = 20;
    fake.levels[{2, 3}] = 20;
    return fake;
  }

  nvml::Return Enter(const char* call, int index = -1) {
    calls.emplace_back(call);
    return Misbehave(call, index);
  }

  nvml::Return Misbehave(const char* call, int index) const {
    if (folder.empty()) return nvml::Return::kSuccess;
    const std::string plain = call;
    for (const std::string& name : {plain, plain + "-" + std::to_string(index)}) {
      if (Exists(Under(folder, "crash-" + name))) {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer would exit instead
        raise(SIGSEGV);
      }
      while (Exists(Under(folder, "hang-" + name))) pause();
      const Result<std::string> code = ReadFile(Under(folder, "code-" + name));
      if (code) return nvml::Return{static_cast<int>(ParseUnsigned(Trim(*code)).value_or(999))};
    }
    return nvml::Return::kSuccess;
  }
};

namespace fake {

using nvml::Return;

inline uint32_t IndexOf(nvml::Device device) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(device) - 1);
}
inline nvml::Device DeviceAt(uint32_t index) {
  return reinterpret_cast<nvml::Device>(uintptr_t{index} + 1);
}
inline const FakeGpu& GpuOf(nvml::Device device) { return FakeNvml::Get().gpus[IndexOf(device)]; }
inline Return Enter(const char* call, nvml::Device device) {
  return FakeNvml::Get().Enter(call, static_cast<int>(IndexOf(device)));
}

inline Return Init() { return FakeNvml::Get().Enter("nvmlInit_v2"); }
inline Return DriverVersion(char* text, uint32_t size) {
  snprintf(text, size, "%s", FakeNvml::Get().driver.c_str());
  return FakeNvml::Get().Enter("nvmlSystemGetDriverVersion");
}
inline Return CudaVersion(int* version) {
  *version = FakeNvml::Get().cuda;
  return FakeNvml::Get().Enter("nvmlSystemGetCudaDriverVersion");
}
inline Return Count(uint32_t* count) {
  *count = static_cast<uint32_t>(FakeNvml::Get().gpus.size());
  return FakeNvml::Get().Enter("nvmlDeviceGetCount_v2");
}
inline Return CountPlain(uint32_t* count) {
  *count = static_cast<uint32_t>(FakeNvml::Get().gpus.size());
  return FakeNvml::Get().Enter("nvmlDeviceGetCount");
}
inline Return ByIndex(uint32_t index, nvml::Device* device) {
  if (index >= FakeNvml::Get().gpus.size()) return Return::kInvalidArgument;
  *device = DeviceAt(index);
  return Enter("nvmlDeviceGetHandleByIndex_v2", *device);
}
inline Return Name(nvml::Device device, char* text, uint32_t size) {
  snprintf(text, size, "%s", GpuOf(device).name.c_str());
  return Enter("nvmlDeviceGetName", device);
}
inline Return Uuid(nvml::Device device, char* text, uint32_t size) {
  snprintf(text, size, "%s", GpuOf(device).uuid.c_str());
  return Enter("nvmlDeviceGetUUID", device);
}
inline Return Minor(nvml::Device device, uint32_t* minor) {
  *minor = GpuOf(device).minor;
  return Enter("nvmlDeviceGetMinorNumber", device);
}
inline void Fill(nvml::PciInfo* info, const PciAddress& pci, uint32_t device_id) {
  *info = {};
  info->domain = pci.domain;
  info->bus = pci.bus;
  info->device = pci.device;
  info->pci_device_id = device_id;
  snprintf(info->bus_id, sizeof(info->bus_id), "%08X:%02X:%02X.0", pci.domain, pci.bus, pci.device);
}
inline Return Pci(nvml::Device device, nvml::PciInfo* info) {
  Fill(info, GpuOf(device).pci, GpuOf(device).pci_device_id);
  return Enter("nvmlDeviceGetPciInfo_v3", device);
}
inline Return MemoryOf(nvml::Device device, nvml::Memory* memory) {
  memory->total = GpuOf(device).memory;
  return Enter("nvmlDeviceGetMemoryInfo", device);
}
inline Return Compute(nvml::Device device, int* major, int* minor) {
  *major = GpuOf(device).compute_major;
  *minor = GpuOf(device).compute_minor;
  return Enter("nvmlDeviceGetCudaComputeCapability", device);
}
inline Return Mig(nvml::Device device, uint32_t* current, uint32_t* pending) {
  if (!GpuOf(device).mig) return Return::kNotSupported;
  *current = *GpuOf(device).mig ? 1 : 0;
  *pending = *current;
  return Enter("nvmlDeviceGetMigMode", device);
}
inline Return FabricV(nvml::Device device, nvml::GpuFabricInfoV3* info) {
  if (!GpuOf(device).fabric) return Return::kNotSupported;
  if (info->version != nvml::VersionWord<nvml::GpuFabricInfoV3>(3)) {
    return Return::kArgumentVersionMismatch;
  }
  const nvml::GpuFabricInfo& fabric = *GpuOf(device).fabric;
  memcpy(info->cluster_uuid, fabric.cluster_uuid, sizeof(fabric.cluster_uuid));
  info->status = fabric.status;
  info->clique_id = fabric.clique_id;
  info->state = fabric.state;
  return Enter("nvmlDeviceGetGpuFabricInfoV", device);
}
inline Return Ancestor(nvml::Device a, nvml::Device b, uint32_t* level) {
  const auto& levels = FakeNvml::Get().levels;
  const auto found = levels.find({IndexOf(a), IndexOf(b)});
  *level = found == levels.end() ? 30 : found->second;
  constexpr const char* kCall = "nvmlDeviceGetTopologyCommonAncestor";
  const Return first = Enter(kCall, a);
  if (first != Return::kSuccess) return first;
  return FakeNvml::Get().Misbehave(kCall, static_cast<int>(IndexOf(b)));
}
inline Return LinkState(nvml::Device device, uint32_t link, uint32_t* state) {
  if (!GpuOf(device).nvlinks.contains(link)) return Return::kNotSupported;
  *state = 1;
  return Enter("nvmlDeviceGetNvLinkState", device);
}
inline Return LinkPci(nvml::Device device, uint32_t link, nvml::PciInfo* info) {
  Fill(info, GpuOf(device).nvlinks.at(link), 0);
  return Enter("nvmlDeviceGetNvLinkRemotePciInfo_v2", device);
}
inline Return EventCreate(nvml::EventSet* set) {
  *set = reinterpret_cast<nvml::EventSet>(uintptr_t{1});
  return FakeNvml::Get().Enter("nvmlEventSetCreate");
}
inline Return EventFree(nvml::EventSet) { return FakeNvml::Get().Enter("nvmlEventSetFree"); }
inline Return EventTypes(nvml::Device device, uint64_t* mask) {
  *mask = FakeNvml::Get().supported_events;
  return Enter("nvmlDeviceGetSupportedEventTypes", device);
}
inline Return EventRegister(nvml::Device device, uint64_t mask, nvml::EventSet) {
  if ((mask & ~FakeNvml::Get().supported_events) != 0) return Return::kNotSupported;
  return Enter("nvmlDeviceRegisterEvents", device);
}
inline Return EventWait(nvml::EventSet, nvml::EventData* event, uint32_t timeout_ms) {
  const std::string fifo = Under(FakeNvml::Get().folder, "events");
  const FileDescriptor file(open(fifo.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  pollfd waiting{.fd = file.get(), .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(timeout_ms)) != 1) return Return::kTimeout;
  std::string line(64, '\0');
  const ssize_t count = read(file.get(), line.data(), line.size());
  if (count <= 0) return Return::kTimeout;
  line.resize(static_cast<size_t>(count));
  const std::vector<std::string> words = SplitWords(line);
  event->device = DeviceAt(static_cast<uint32_t>(ParseUnsigned(words.at(0)).value_or(0)));
  event->type = ParseUnsigned(words.at(1)).value_or(0);
  event->data = ParseUnsigned(words.at(2)).value_or(0);
  return Return::kSuccess;
}

// The symbols of the library; nullptr for one that FakeNvml::missing names.
inline void* Resolve(const char* symbol) {
  static const std::map<std::string, void*> kSymbols = {
      {"nvmlInit_v2", reinterpret_cast<void*>(&Init)},
      {"nvmlSystemGetDriverVersion", reinterpret_cast<void*>(&DriverVersion)},
      {"nvmlSystemGetCudaDriverVersion", reinterpret_cast<void*>(&CudaVersion)},
      {"nvmlDeviceGetCount_v2", reinterpret_cast<void*>(&Count)},
      {"nvmlDeviceGetCount", reinterpret_cast<void*>(&CountPlain)},
      {"nvmlDeviceGetHandleByIndex_v2", reinterpret_cast<void*>(&ByIndex)},
      {"nvmlDeviceGetName", reinterpret_cast<void*>(&Name)},
      {"nvmlDeviceGetUUID", reinterpret_cast<void*>(&Uuid)},
      {"nvmlDeviceGetMinorNumber", reinterpret_cast<void*>(&Minor)},
      {"nvmlDeviceGetPciInfo_v3", reinterpret_cast<void*>(&Pci)},
      {"nvmlDeviceGetMemoryInfo", reinterpret_cast<void*>(&MemoryOf)},
      {"nvmlDeviceGetCudaComputeCapability", reinterpret_cast<void*>(&Compute)},
      {"nvmlDeviceGetMigMode", reinterpret_cast<void*>(&Mig)},
      {"nvmlDeviceGetGpuFabricInfoV", reinterpret_cast<void*>(&FabricV)},
      {"nvmlDeviceGetTopologyCommonAncestor", reinterpret_cast<void*>(&Ancestor)},
      {"nvmlDeviceGetNvLinkState", reinterpret_cast<void*>(&LinkState)},
      {"nvmlDeviceGetNvLinkRemotePciInfo_v2", reinterpret_cast<void*>(&LinkPci)},
      {"nvmlEventSetCreate", reinterpret_cast<void*>(&EventCreate)},
      {"nvmlEventSetFree", reinterpret_cast<void*>(&EventFree)},
      {"nvmlDeviceGetSupportedEventTypes", reinterpret_cast<void*>(&EventTypes)},
      {"nvmlDeviceRegisterEvents", reinterpret_cast<void*>(&EventRegister)},
      {"nvmlEventSetWait_v2", reinterpret_cast<void*>(&EventWait)},
  };
  const auto found = kSymbols.find(symbol);
  if (found == kSymbols.end() || FakeNvml::Get().missing.contains(symbol)) return nullptr;
  return found->second;
}

}  // namespace fake

inline Nvml LoadFakeNvml() { return Nvml::FromResolver(&fake::Resolve); }

}  // namespace pawl::gpu
