// What we know of a node's GPUs at one moment, as plain values. The NVML worker makes it;
// everything else (labels, device plugin, CDI, health) reads it and never talks to NVML itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pawl::gpu {

// A PCI address in numbers. Sysfs writes it "0000:3b:00.0" (a domain wider than 16 bits keeps its
// digits).
struct PciAddress {
  uint32_t domain = 0;
  uint32_t bus = 0;
  uint32_t device = 0;

  bool operator==(const PciAddress&) const = default;
  bool operator<(const PciAddress& other) const {
    return std::tie(domain, bus, device) < std::tie(other.domain, other.bus, other.device);
  }
  std::string ToSysfs() const;  // spec/nvml.md §9, vectors 17 and 18
  static Result<PciAddress> Parse(
      std::string_view text);  // sysfs' form, or NVML's "00000000:3B:00.0"
};

struct FabricInfo {
  std::string cluster_uuid;  // lower case, 8-4-4-4-12
  uint32_t clique_id = 0;
  bool attached =
      false;  // state completed, status success, UUID not all zero (spec/feature-discovery.md §3.1)

  bool operator==(const FabricInfo&) const = default;
};

struct Gpu {
  uint32_t index = 0;  // NVML's, in this snapshot
  std::string uuid;    // "GPU-…"
  std::string name;    // the model, as NVML says it
  uint32_t minor = 0;  // N of /dev/nvidiaN; not the index in general
  PciAddress pci;
  std::string pci_device_id;             // "2330", without 0x; empty when unknown
  std::optional<uint64_t> memory_bytes;  // total; absent when unreadable
  int compute_major = 0;                 // 0: unknown
  int compute_minor = 0;
  std::optional<bool> mig_enabled;  // absent: not MIG capable
  std::optional<FabricInfo> fabric;
  std::optional<int> numa_node;  // from sysfs; absent when the kernel says -1 or nothing
  std::string problem;  // why this GPU cannot be used ("NvmlHung: …", "GPU is lost"); empty: usable

  bool usable() const { return problem.empty(); }
  std::string DeviceNode() const;  // "/dev/nvidia3"
  bool operator==(const Gpu&) const = default;
};

// A GPU that NVML counts but that never said who it is: it hung, crashed the library or refused
// before its UUID could be read. It has no device to offer, only a reason to show.
struct SilentGpu {
  uint32_t index = 0;
  std::string problem;

  bool operator==(const SilentGpu&) const = default;
};

// How two GPUs are connected. Both are positions in Snapshot::gpus; a < b.
struct Link {
  uint32_t a = 0;
  uint32_t b = 0;
  int pcie_score = 0;  // 10 (other socket) … 60 (same board); 0: unreadable
  int nvlinks = 0;     // active NVLinks straight between the two

  int score() const { return pcie_score + 100 * nvlinks; }  // spec/device-plugin.md §9
  bool operator==(const Link&) const = default;
};

struct Snapshot {
  std::string driver_version;  // "550.107.02"
  int cuda_version = 0;        // 12040 = 12.4
  std::vector<Gpu> gpus;       // those that answered once, also those that have a problem now; in
                               // the order of their PCI addresses, which is NVML's
  std::vector<Link> links;     // every pair that could be read
  std::vector<SilentGpu> silent;  // those that never answered

  bool operator==(const Snapshot&) const = default;
  const Gpu* FindByUuid(std::string_view uuid) const;
};

json::value ToJsonValue(const FabricInfo& fabric);
Result<FabricInfo> FabricFromJson(const json::value& value);
json::value ToJsonValue(const Gpu& gpu);
Result<Gpu> GpuFromJson(const json::value& value);
json::value ToJsonValue(const std::vector<Link>& links);
Result<std::vector<Link>> LinksFromJson(const json::value& value);
json::value ToJsonValue(const Snapshot& snapshot);
Result<Snapshot> SnapshotFromJson(const json::value& value);  // names the path of what is wrong

}  // namespace pawl::gpu
