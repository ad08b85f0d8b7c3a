// What a GPU is and where it sits: spec/nvml.md §3.2.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "testing/nvml/session.h"

using namespace pawl::stand_in;

namespace {

constexpr unsigned kNvidia = 0x10de;
constexpr unsigned kWordBits = 8 * sizeof(unsigned long);

nvmlReturn_t Text(const char* function, nvmlDevice_t handle, std::string Model::*field, char* text,
                  unsigned length) {
  return OnGpu(function, handle, [&](const nvmlDevice_st& device, const Session&) {
    const std::string& value = device.model->*field;
    return value.empty() ? NVML_ERROR_NOT_SUPPORTED : PutText(value, text, length);
  });
}

nvmlReturn_t PciInfo(const char* function, nvmlDevice_t handle, nvmlPciInfo_t* info,
                     bool long_bus_id) {
  return OnGpu(function, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const Gpu& gpu = *device.gpu;
    // Before version 3 the struct ended at pciSubSystemId and four reserved words: leave the long
    // id alone then.
    std::memset(info, 0, long_bus_id ? sizeof *info : offsetof(nvmlPciInfo_t, busId));
    std::snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%04X:%02X:%02X.0",
                  gpu.domain & 0xffff, gpu.bus & 0xff, gpu.device & 0xff);
    info->domain = gpu.domain;
    info->bus = gpu.bus;
    info->device = gpu.device;
    info->pciDeviceId = device.model->pci_device << 16 | kNvidia;
    info->pciSubSystemId = device.model->pci_subsystem;
    if (long_bus_id) {
      std::snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.0", gpu.domain, gpu.bus,
                    gpu.device);
    }
    return NVML_SUCCESS;
  });
}

// The CPUs of a list such as "0-15,32-47", as a bit mask of `words` words.
void PutCpus(const std::string& list, unsigned words, unsigned long* mask) {
  std::fill_n(mask, words, 0UL);
  const char* at = list.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const unsigned long first = std::strtoul(at, &end, 10);
    if (end == at) return;
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, &end, 10) : first;
    for (unsigned long cpu = first; cpu <= last && cpu / kWordBits < words; ++cpu) {
      mask[cpu / kWordBits] |= 1UL << (cpu % kWordBits);
    }
    at = *end == ',' ? end + 1 : end;
  }
}

nvmlReturn_t CpuAffinity(const char* function, nvmlDevice_t handle, unsigned words,
                         unsigned long* mask) {
  return OnGpu(function, handle, [&](const nvmlDevice_st& device, const Session& session) {
    if (mask == nullptr || words == 0) return NVML_ERROR_INVALID_ARGUMENT;
    if (device.gpu->numa < 0) return NVML_ERROR_NOT_SUPPORTED;
    PutCpus(session.profile.numa_cpus[static_cast<unsigned>(device.gpu->numa)], words, mask);
    return NVML_SUCCESS;
  });
}

}  // namespace

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned length) {
  return Text(__func__, device, &Model::name, text, length);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* text,
                                                     unsigned length) {
  return Text(__func__, device, &Model::vbios, text, length);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* text,
                                                        unsigned length) {
  return Text(__func__, device, &Model::board_part, text, length);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char* text,
                                                            unsigned length) {
  return Text(__func__, device, &Model::inforom_image, text, length);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, unsigned object,
                                                       char* text, unsigned length) {
  static constexpr std::string Model::*kObjects[] = {&Model::inforom_oem, &Model::inforom_ecc,
                                                     &Model::inforom_power};
  if (object == 3)
    return OnGpu(__func__, device,
                 [](const nvmlDevice_st&, const Session&) { return NVML_ERROR_NOT_SUPPORTED; });
  if (object > 3) return NVML_ERROR_INVALID_ARGUMENT;
  return Text(__func__, device, kObjects[object], text, length);
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* text, unsigned length) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return PutText(device.gpu->uuid, text, length);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t handle, char* text, unsigned length) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return PutText(device.gpu->serial, text, length);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned* index) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(index, device.index);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned* minor) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(minor, device.gpu->minor);
  });
}
// Boards with one GPU: an id made of the address, as the driver does it.
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t handle, unsigned* id) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(id, device.gpu->bus << 8);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t handle, unsigned* multi) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(multi, 0); });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t handle, unsigned* id) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(id, device.gpu->minor + 1);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t handle, unsigned* brand) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(brand, device.model->brand);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t handle, unsigned* architecture) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(architecture, device.model->architecture);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major,
                                                              int* minor) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(major, device.model->compute_major, minor, device.model->compute_minor);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return PciInfo(__func__, device, info, false);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return PciInfo(__func__, device, info, false);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return PciInfo(__func__, device, info, true);
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words,
                                                    unsigned long* mask) {
  return CpuAffinity(__func__, device, words, mask);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned words,
                                                               unsigned long* mask, unsigned) {
  return CpuAffinity(__func__, device, words, mask);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t handle, unsigned words,
                                                       unsigned long* mask, unsigned) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (mask == nullptr || words == 0) return NVML_ERROR_INVALID_ARGUMENT;
    if (device.gpu->numa < 0) return NVML_ERROR_NOT_SUPPORTED;
    PutCpus(std::to_string(device.gpu->numa), words, mask);
    return NVML_SUCCESS;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t handle, char* text) {
  constexpr unsigned kLength = 64;
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session& session) {
    return device.model->gsp ? PutText(session.profile.driver, text, kLength)
                             : NVML_ERROR_NOT_SUPPORTED;
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t handle, unsigned* enabled,
                                                        unsigned* by_default) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return Put(enabled, device.model->gsp ? 1 : 0, by_default, device.model->gsp ? 1 : 0);
  });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, unsigned* mode) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(mode, 0); });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, unsigned* mode) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(mode, 0); });
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t handle, unsigned* mode) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(mode, 0); });
}
