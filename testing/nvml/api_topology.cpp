// How GPUs are connected: spec/nvml.md §3.5.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "testing/nvml/session.h"

using namespace pawl::stand_in;

namespace {

constexpr unsigned kSameBoard = 0;
constexpr unsigned kOneSwitch = 10;
constexpr unsigned kHostBridge = 30;
constexpr unsigned kNumaNode = 40;
constexpr unsigned kSystem = 50;

constexpr unsigned kCapabilityNvLink = 2;
constexpr unsigned kCapabilityLast = 4;
constexpr unsigned kStatusOk = 0;
constexpr unsigned kStatusUnsupported = 5;

constexpr unsigned kRemoteGpu = 0;
constexpr unsigned kRemoteSwitch = 2;

unsigned CommonAncestor(const Gpu& a, const Gpu& b) {
  if (&a == &b) return kSameBoard;
  if (!a.pci_switch.empty() && a.pci_switch == b.pci_switch) return kOneSwitch;
  if (a.bridge == b.bridge) return kHostBridge;
  return a.numa >= 0 && a.numa == b.numa ? kNumaNode : kSystem;
}

bool AreLinked(const Session& session, const Gpu& a, const Gpu& b) {
  const auto position = static_cast<int>(&b - session.profile.gpus.data());
  return std::any_of(a.links.begin(), a.links.end(), [&](const NvLink& link) {
    return link.peer == position || (link.peer == NvLink::kSwitch && !b.links.empty());
  });
}

// Runs `body` with one link of the GPU. A board without NVLink says code 3, a number past its links
// code 2.
template <typename Body>
nvmlReturn_t OnLink(const char* function, nvmlDevice_t handle, unsigned link, Body body) {
  return OnGpu(function, handle, [&](const nvmlDevice_st& device, const Session& session) {
    if (device.gpu->links.empty()) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= device.gpu->links.size()) return NVML_ERROR_INVALID_ARGUMENT;
    return body(device, device.gpu->links[link], session);
  });
}

// The address of the switch chip at the end of a link; links spread over four of them.
nvmlPciInfo_t SwitchAddress(unsigned link) {
  constexpr unsigned kFirstBus = 0x05;
  constexpr unsigned kChips = 4;
  nvmlPciInfo_t info{};
  info.bus = kFirstBus + link % kChips;
  info.pciDeviceId = 0x22a310de;
  return info;
}

void PutBusIds(nvmlPciInfo_t& info) {
  std::snprintf(info.busIdLegacy, sizeof info.busIdLegacy, "%04X:%02X:%02X.0", info.domain & 0xffff,
                info.bus & 0xff, info.device & 0xff);
  std::snprintf(info.busId, sizeof info.busId, "%08X:%02X:%02X.0", info.domain, info.bus,
                info.device);
}

nvmlReturn_t RemotePciInfo(const char* function, nvmlDevice_t handle, unsigned number,
                           nvmlPciInfo_t* out) {
  return OnLink(function, handle, number,
                [&](const nvmlDevice_st&, const NvLink& link, const Session& session) {
                  nvmlPciInfo_t info = SwitchAddress(number);
                  if (link.peer != NvLink::kSwitch) {
                    const Gpu& peer = session.profile.gpus[static_cast<unsigned>(link.peer)];
                    info.domain = peer.domain;
                    info.bus = peer.bus;
                    info.device = peer.device;
                    info.pciDeviceId = session.profile.models[peer.model].pci_device << 16 | 0x10de;
                    info.pciSubSystemId = session.profile.models[peer.model].pci_subsystem;
                  }
                  PutBusIds(info);
                  return Put(out, info);
                });
}

// The fields that all versions of the fabric struct share.
template <typename Info>
void PutFabric(const Fabric& fabric, Info& info) {
  constexpr unsigned char kCompleted = 3;
  std::copy(fabric.cluster.begin(), fabric.cluster.end(), info.clusterUuid);
  info.status = NVML_SUCCESS;
  info.cliqueId = fabric.clique;
  info.state = kCompleted;
}

}  // namespace

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first,
                                                               nvmlDevice_t second,
                                                               unsigned* level) {
  const char* const function = __func__;
  return OnGpu(function, first, [&](const nvmlDevice_st& device, Session& session) {
    const nvmlDevice_st* const other = session.Find(second);
    if (other == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (const auto fault = session.MeetFault(function, other)) return *fault;
    return Put(level, CommonAncestor(*device.gpu, *other->gpu));
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t handle, unsigned level,
                                                            unsigned* count,
                                                            nvmlDevice_t* nearest) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, Session& session) {
    std::vector<nvmlDevice_t> found;
    for (std::size_t i = 0; i < session.devices.size(); ++i) {
      const nvmlDevice_st& other = session.devices[i];
      if (&other != &device && CommonAncestor(*device.gpu, *other.gpu) == level)
        found.push_back(session.HandleOf(i));
    }
    return PutArray(found, nearest, count);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second,
                                                  unsigned capability, unsigned* status) {
  return OnGpu(__func__, first, [&](const nvmlDevice_st& device, const Session& session) {
    const nvmlDevice_st* const other = session.Find(second);
    if (other == nullptr || capability > kCapabilityLast) return NVML_ERROR_INVALID_ARGUMENT;
    const bool linked = AreLinked(session, *device.gpu, *other->gpu);
    return Put(status, capability != kCapabilityNvLink || linked ? kStatusOk : kStatusUnsupported);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                                    unsigned* active) {
  return OnLink(__func__, device, link, [&](const nvmlDevice_st&, const NvLink&, const Session&) {
    return Put(active, 1);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t handle, unsigned link,
                                                      unsigned* version) {
  return OnLink(__func__, handle, link,
                [&](const nvmlDevice_st& device, const NvLink&, const Session&) {
                  return Put(version, device.model->nvlink_version);
                });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link,
                                                         unsigned capability, unsigned* has) {
  constexpr unsigned kSliBridge = 4;
  constexpr unsigned kLast = 5;
  return OnLink(__func__, device, link, [&](const nvmlDevice_st&, const NvLink&, const Session&) {
    return capability > kLast ? NVML_ERROR_INVALID_ARGUMENT
                              : Put(has, capability == kSliBridge ? 0 : 1);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link,
                                                            nvmlPciInfo_t* info) {
  return RemotePciInfo(__func__, device, link, info);
}
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link,
                                                               nvmlPciInfo_t* info) {
  return RemotePciInfo(__func__, device, link, info);
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned number,
                                                               unsigned* type) {
  return OnLink(__func__, device, number,
                [&](const nvmlDevice_st&, const NvLink& link, const Session&) {
                  return Put(type, link.peer == NvLink::kSwitch ? kRemoteSwitch : kRemoteGpu);
                });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned link,
                                                           unsigned counter, NvmlU64* count) {
  return OnLink(__func__, device, link, [&](const nvmlDevice_st&, const NvLink&, const Session&) {
    return counter > 4 ? NVML_ERROR_INVALID_ARGUMENT : Put(count, 0);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t handle,
                                                      nvmlGpuFabricInfo_t* info) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st&, const Session& session) {
    if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!session.profile.fabric.present) return NVML_ERROR_NOT_SUPPORTED;
    PutFabric(session.profile.fabric, *info);
    return NVML_SUCCESS;
  });
}

// Takes both versions of the struct, told apart by the word in front.
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t handle,
                                                       nvmlGpuFabricInfo_v3_t* info) {
  constexpr unsigned kHealthy = 0x1aa;  // nothing degraded, configuration right
  constexpr unsigned char kSummaryHealthy = 1;
  return OnGpu(__func__, handle, [&](const nvmlDevice_st&, const Session& session) {
    if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const unsigned word = info->version;
    const bool third = word == NvmlVersionWord<nvmlGpuFabricInfo_v3_t>(3);
    if (!third && word != NvmlVersionWord<nvmlGpuFabricInfo_v2_t>(2))
      return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (!session.profile.fabric.present) return NVML_ERROR_NOT_SUPPORTED;
    PutFabric(session.profile.fabric, *info);
    info->healthMask = kHealthy;  // the same place in both
    if (third) info->healthSummary = kSummaryHealthy;
    return NVML_SUCCESS;
  });
}
static_assert(offsetof(nvmlGpuFabricInfo_v2_t, healthMask) ==
              offsetof(nvmlGpuFabricInfo_v3_t, healthMask));
