#include "gpu/snapshot.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "gpu/pci.h"

namespace pawl::gpu {

using nvml::Return;

namespace {

bool IsDisplayBoard(std::string_view name) {
  return name == "DGX Display" || name == "NVIDIA DGX Display";
}

PciAddress AddressOf(const nvml::PciInfo& info) {
  return {.domain = info.domain, .bus = info.bus, .device = info.device};
}

std::string UuidText(const uint8_t (&bytes)[16]) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    snprintf(digits, sizeof(digits), "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

// Nothing where this GPU has no fabric.
std::optional<FabricInfo> FabricOf(const nvml::GpuFabricInfo& info) {
  constexpr uint8_t kUnsupported = 0;
  constexpr uint8_t kCompleted = 3;
  if (info.state == kUnsupported) return std::nullopt;
  const bool has_uuid = std::any_of(std::begin(info.cluster_uuid), std::end(info.cluster_uuid),
                                    [](uint8_t byte) { return byte != 0; });
  FabricInfo fabric;
  fabric.cluster_uuid = UuidText(info.cluster_uuid);
  fabric.clique_id = info.clique_id;
  fabric.attached = info.state == kCompleted && info.status == Return::kSuccess && has_uuid;
  return fabric;
}

// spec/device-plugin.md §9.
int PcieScore(uint32_t level) {
  switch (level) {
    case 0:
      return 60;
    case 10:
      return 50;
    case 20:
      return 40;
    case 30:
      return 30;
    case 40:
      return 20;
    case 50:
      return 10;
    default:
      return 0;
  }
}

// Where the active NVLinks of a GPU end, one entry a link.
std::vector<PciAddress> NvLinkPeers(const Nvml& nvml, nvml::Device device) {
  std::vector<PciAddress> peers;
  for (uint32_t link = 0; link < nvml::kMaxNvLinks; ++link) {
    const NvmlResult<bool> active = nvml.NvLinkActive(device, link);
    if (!active) {
      const Return code = active.error().code;
      if (code == Return::kFunctionNotFound || IsGpuGone(code)) break;
      continue;  // this link is absent; the next may be there
    }
    if (!*active) continue;
    const NvmlResult<nvml::PciInfo> remote = nvml.NvLinkRemotePci(device, link);
    if (remote) peers.push_back(AddressOf(*remote));
  }
  return peers;
}

NvmlResult<Gpu> ReadIdentity(const Nvml& nvml, uint32_t index, nvml::Device device,
                             std::string name) {
  Gpu gpu;
  gpu.index = index;
  gpu.name = std::move(name);
  NvmlResult<std::string> uuid = nvml.Uuid(device);
  if (!uuid) return tl::unexpected(uuid.error());
  gpu.uuid = std::move(*uuid);
  const NvmlResult<nvml::PciInfo> pci = nvml.Pci(device);
  if (!pci) return tl::unexpected(pci.error());
  gpu.pci = AddressOf(*pci);
  char device_id[8];
  snprintf(device_id, sizeof(device_id), "%04x", pci->pci_device_id >> 16);
  gpu.pci_device_id = device_id;
  const NvmlResult<uint32_t> minor = nvml.MinorNumber(device);
  if (!minor) return tl::unexpected(minor.error());
  gpu.minor = *minor;
  return gpu;
}

// The positions that the GPUs of `from` have in `to`; its size for one that it lacks.
std::vector<uint32_t> PositionsIn(const std::vector<Gpu>& from, const std::vector<Gpu>& to) {
  std::vector<uint32_t> positions;
  for (const Gpu& gpu : from) {
    const auto same =
        std::find_if(to.begin(), to.end(), [&gpu](const Gpu& g) { return g.uuid == gpu.uuid; });
    positions.push_back(static_cast<uint32_t>(same - to.begin()));
  }
  return positions;
}

Link Moved(const Link& link, const std::vector<uint32_t>& positions) {
  Link moved = link;
  moved.a = std::min(positions[link.a], positions[link.b]);
  moved.b = std::max(positions[link.a], positions[link.b]);
  return moved;
}

}  // namespace

NvmlResult<SystemVersions> ReadSystem(const Nvml& nvml) {
  SystemVersions versions;
  NvmlResult<std::string> driver = nvml.DriverVersion();
  if (!driver) return tl::unexpected(driver.error());
  versions.driver_version = std::move(*driver);
  versions.cuda_version = nvml.CudaDriverVersion().value_or(0);
  const NvmlResult<uint32_t> count = nvml.DeviceCount();
  if (!count) return tl::unexpected(count.error());
  versions.gpu_count = *count;
  return versions;
}

NvmlResult<std::optional<Gpu>> ReadGpu(const Nvml& nvml, uint32_t index, const std::string& root) {
  const NvmlResult<nvml::Device> device = nvml.DeviceByIndex(index);
  if (!device) return tl::unexpected(device.error());
  NvmlResult<std::string> name = nvml.Name(*device);
  if (!name) return tl::unexpected(name.error());
  if (IsDisplayBoard(*name)) return std::nullopt;
  NvmlResult<Gpu> gpu = ReadIdentity(nvml, index, *device, std::move(*name));
  if (!gpu) return tl::unexpected(gpu.error());

  const NvmlResult<nvml::Memory> memory = nvml.MemoryOf(*device);
  if (memory) gpu->memory_bytes = memory->total;
  if (!memory && IsGpuGone(memory.error().code)) return tl::unexpected(memory.error());
  const NvmlResult<Nvml::ComputeCapability> compute = nvml.CudaComputeCapability(*device);
  if (compute) {
    gpu->compute_major = compute->major;
    gpu->compute_minor = compute->minor;
  }
  const NvmlResult<Nvml::MigMode> mig = nvml.Mig(*device);
  if (mig) gpu->mig_enabled = mig->current;
  const NvmlResult<nvml::GpuFabricInfo> fabric = nvml.Fabric(*device);
  if (fabric) gpu->fabric = FabricOf(*fabric);
  gpu->numa_node = NumaNode(root, gpu->pci);
  return std::optional<Gpu>(std::move(*gpu));
}

NvmlResult<GpuProbe> ProbeGpu(const Nvml& nvml, uint32_t index, bool has_mig, bool has_fabric) {
  const NvmlResult<nvml::Device> device = nvml.DeviceByIndex(index);
  if (!device) return tl::unexpected(device.error());
  const NvmlResult<nvml::Memory> memory = nvml.MemoryOf(*device);
  if (!memory && !IsUnsupported(memory.error().code)) return tl::unexpected(memory.error());
  GpuProbe probe;
  if (has_mig) {
    const NvmlResult<Nvml::MigMode> mig = nvml.Mig(*device);
    if (mig) probe.mig_enabled = mig->current;
    if (!mig && IsGpuGone(mig.error().code)) return tl::unexpected(mig.error());
  }
  if (has_fabric) {
    const NvmlResult<nvml::GpuFabricInfo> fabric = nvml.Fabric(*device);
    if (fabric) probe.fabric = FabricOf(*fabric);
    if (!fabric && IsGpuGone(fabric.error().code)) return tl::unexpected(fabric.error());
  }
  return probe;
}

std::vector<Link> ReadLinks(const Nvml& nvml, const std::vector<uint32_t>& indexes,
                            uint32_t position) {
  std::vector<Link> links;
  if (position + 1 >= indexes.size()) return links;
  const NvmlResult<nvml::Device> device = nvml.DeviceByIndex(indexes[position]);
  if (!device) return links;
  const std::vector<PciAddress> peers = NvLinkPeers(nvml, *device);
  for (uint32_t other = position + 1; other < indexes.size(); ++other) {
    const NvmlResult<nvml::Device> peer = nvml.DeviceByIndex(indexes[other]);
    if (!peer) continue;
    Link link{.a = position, .b = other};
    const NvmlResult<uint32_t> level = nvml.CommonAncestor(*device, *peer);
    if (level) link.pcie_score = PcieScore(*level);
    if (!peers.empty()) {
      const NvmlResult<nvml::PciInfo> pci = nvml.Pci(*peer);
      if (pci) {
        link.nvlinks = static_cast<int>(std::count(peers.begin(), peers.end(), AddressOf(*pci)));
      }
    }
    if (link.score() > 0) links.push_back(link);
  }
  return links;
}

Result<Snapshot> TakeSnapshot(const Nvml& nvml, const std::string& root,
                              const std::function<void(uint32_t)>& on_gpu) {
  NvmlResult<SystemVersions> versions = ReadSystem(nvml);
  if (!versions) return Fail(versions.error().ToError());
  Snapshot snapshot;
  snapshot.driver_version = std::move(versions->driver_version);
  snapshot.cuda_version = versions->cuda_version;
  std::vector<uint32_t> indexes;
  for (uint32_t index = 0; index < versions->gpu_count; ++index) {
    on_gpu(index);
    NvmlResult<std::optional<Gpu>> gpu = ReadGpu(nvml, index, root);
    if (!gpu) {
      snapshot.silent.push_back({.index = index, .problem = gpu.error().ToError().message()});
    } else if (*gpu) {
      snapshot.gpus.push_back(std::move(**gpu));
      indexes.push_back(index);
    }
  }
  for (uint32_t position = 0; position < indexes.size(); ++position) {
    on_gpu(indexes[position]);
    const std::vector<Link> links = ReadLinks(nvml, indexes, position);
    snapshot.links.insert(snapshot.links.end(), links.begin(), links.end());
  }
  return snapshot;
}

std::vector<Link> LinksAmong(const std::vector<Gpu>& gpus, const Snapshot& known) {
  const std::vector<uint32_t> positions = PositionsIn(known.gpus, gpus);
  std::vector<Link> links;
  for (const Link& link : known.links) {
    if (positions[link.a] < gpus.size() && positions[link.b] < gpus.size()) {
      links.push_back(Moved(link, positions));
    }
  }
  return links;
}

Snapshot Merge(const Snapshot& known, Snapshot fresh) {
  Snapshot merged;
  merged.driver_version = std::move(fresh.driver_version);
  merged.cuda_version = fresh.cuda_version;
  merged.gpus = fresh.gpus;
  std::set<std::string> missing;
  for (const Gpu& gpu : known.gpus) {
    if (fresh.FindByUuid(gpu.uuid) != nullptr) continue;
    missing.insert(gpu.uuid);
    Gpu lost = gpu;
    const auto silent =
        std::find_if(fresh.silent.begin(), fresh.silent.end(),
                     [&gpu](const SilentGpu& other) { return other.index == gpu.index; });
    if (silent != fresh.silent.end()) {
      lost.problem = silent->problem;
      fresh.silent.erase(silent);
    } else if (lost.problem.empty()) {
      lost.problem = "GpuLost: NVML does not list it any more";
    }
    merged.gpus.push_back(std::move(lost));
  }
  merged.silent = std::move(fresh.silent);
  std::sort(merged.gpus.begin(), merged.gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.pci < b.pci; });

  const std::vector<uint32_t> of_fresh = PositionsIn(fresh.gpus, merged.gpus);
  for (const Link& link : fresh.links) merged.links.push_back(Moved(link, of_fresh));
  const std::vector<uint32_t> of_known = PositionsIn(known.gpus, merged.gpus);
  for (const Link& link : known.links) {
    if (missing.contains(known.gpus[link.a].uuid) || missing.contains(known.gpus[link.b].uuid)) {
      merged.links.push_back(Moved(link, of_known));
    }
  }
  std::sort(merged.links.begin(), merged.links.end(),
            [](const Link& x, const Link& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  return merged;
}

}  // namespace pawl::gpu
