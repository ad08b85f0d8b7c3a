// PCI functions as sysfs shows them. Works without any driver. Everything is below a root, so that
// tests and containers with the host mounted somewhere use the same code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/model.h"

namespace pawl::gpu {

struct PciFunction {
  std::string address;       // "0000:3b:00.0", the name of its folder
  std::string device_class;  // six hex digits: "030200" is a 3D controller
  std::string vendor;        // four hex digits; NVIDIA is "10de"
  std::string device;
  std::string subsystem_vendor;  // empty when unreadable, as is the next
  std::string subsystem_device;
  std::optional<int> numa_node;  // absent when the kernel says -1 or nothing
  bool sriov_capable = false;    // it has the attribute sriov_totalvfs

  // A GPU of NVIDIA: a VGA or 3D controller. Not an NVSwitch, an audio function, a USB controller.
  bool IsNvidiaGpu() const;
};

// All functions below `root`/sys/bus/pci/devices, by address. One whose class, vendor or device
// cannot be read is left out. No PCI at all is an empty list.
Result<std::vector<PciFunction>> ScanPci(const std::string& root);

std::vector<PciFunction> NvidiaGpus(const std::vector<PciFunction>& functions);

// The NUMA node of a function; absent when the kernel says a negative number or nothing.
std::optional<int> NumaNode(const std::string& root, const PciAddress& address);

// "compute", "graphics" or "unknown" (spec/feature-discovery.md §3, gpu.mode): the class that all
// GPUs of the snapshot share.
std::string GpuMode(const std::vector<PciFunction>& functions, const Snapshot& snapshot);

// What a vGPU's configuration space says of its host.
struct VgpuHost {
  std::string driver_version;
  std::string driver_branch;
};

// From 256 bytes of configuration space: nothing where the function is no vGPU, an error where it
// is one and the record is broken (spec/feature-discovery.md §6). Never reads outside the bytes.
Result<std::optional<VgpuHost>> VgpuFromConfig(std::string_view config);

// Over all NVIDIA functions below root; the last vGPU wins. An error when the configuration space
// of any of them cannot be read whole (an unprivileged reader gets 64 bytes).
Result<std::optional<VgpuHost>> DetectVgpu(const std::string& root,
                                           const std::vector<PciFunction>& functions);

}  // namespace pawl::gpu
