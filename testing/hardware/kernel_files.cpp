#include "testing/hardware/kernel_files.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace pawl::stand_in {
namespace {

using Files = std::map<std::string, std::string>;

constexpr unsigned kNvidiaMajor = 195;
constexpr unsigned kUvmMajor = 507;  // dynamic in life
constexpr unsigned kDrmMajor = 226;
constexpr unsigned kVendor = 0x10de;

std::string Version(const Profile& profile) {
  return fmt::format(
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Tue Apr  8 12:41:17 UTC 2025\n"
      "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14) \n",
      profile.driver);
}

constexpr std::string_view kParams =
    "ResmanDebugLevel: 4294967295\n"
    "RmLogonRC: 1\n"
    "ModifyDeviceFiles: 1\n"
    "DeviceFileUID: 0\n"
    "DeviceFileGID: 0\n"
    "DeviceFileMode: 438\n"
    "InitializeSystemMemoryAllocations: 1\n"
    "UsePageAttributeTable: 4294967295\n"
    "EnableMSI: 1\n"
    "EnablePCIeGen3: 0\n"
    "EnableGpuFirmware: 18\n"
    "EnableGpuFirmwareLogs: 2\n"
    "PreserveVideoMemoryAllocations: 0\n"
    "EnableStreamMemOPs: 0\n"
    "DynamicPowerManagement: 3\n"
    "RegistryDwords: \"\"\n"
    "ExcludedGpus: \"\"\n";

std::string Information(const Profile& profile, const Gpu& gpu) {
  const Model& model = profile.models[gpu.model];
  return fmt::format(
      "Model: \t\t {}\n"
      "IRQ:   \t\t {}\n"
      "GPU UUID: \t {}\n"
      "Video BIOS: \t {}\n"
      "Bus Type: \t PCIe\n"
      "DMA Size: \t 47 bits\n"
      "DMA Mask: \t 0x7fffffffffff\n"
      "Bus Location: \t {}\n"
      "Device Minor: \t {}\n"
      "GPU Firmware: \t {}\n"
      "GPU Excluded:\t No\n",
      model.name, gpu.irq, gpu.uuid, model.vbios, SysfsName(gpu), gpu.minor,
      model.gsp ? profile.driver : "N/A");
}

void AddProc(const Profile& profile, Files& files) {
  files["proc-driver/nvidia/version"] = Version(profile);
  files["proc-driver/nvidia/params"] = kParams;
  files["proc-driver/nvidia/registry"] = "Binary: \"\"\n";
  for (const Gpu& gpu : profile.gpus) {
    files["proc-driver/nvidia/gpus/" + SysfsName(gpu) + "/information"] = Information(profile, gpu);
  }
  files["proc-devices"] = fmt::format(
      "{0} nvidia\n{0} nvidia-modeset\n{0} nvidiactl\n{1} nvidia-uvm\n", kNvidiaMajor, kUvmMajor);
  if (profile.drm) files["proc-devices"] += fmt::format("{} drm\n", kDrmMajor);
  files["proc-modules"] =
      "nvidia_uvm 4943872 0 - Live 0x0000000000000000 (POE)\n"
      "nvidia_modeset 1327104 0 - Live 0x0000000000000000 (POE)\n"
      "nvidia 54284288 2 nvidia_uvm,nvidia_modeset, Live 0x0000000000000000 (POE)\n";
}

// The configuration space's first 256 bytes: header, then the capabilities power management, MSI
// and PCI Express.
std::string ConfigSpace(unsigned vendor, unsigned device, unsigned pci_class, unsigned subsystem) {
  std::string config(256, '\0');
  const auto put = [&config](std::size_t at, unsigned value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      config[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  put(0x00, vendor, 2);
  put(0x02, device, 2);
  put(0x04, 0x0406, 2);  // bus master, memory space, no INTx
  put(0x06, 0x0010, 2);  // has a capability list
  put(0x08, 0xa1, 1);
  put(0x09, pci_class, 3);
  put(0x2c, subsystem & 0xffff, 2);
  put(0x2e, subsystem >> 16, 2);
  put(0x34, 0x60, 1);
  put(0x60, 0x6801, 2);
  put(0x68, 0x7805, 2);
  put(0x78, 0x0010, 2);
  return config;
}

struct PciDevice {
  std::string name;
  unsigned vendor = 0;
  unsigned device = 0;
  unsigned pci_class = 0;
  unsigned subsystem = 0;  // device << 16 | vendor
  int numa = 0;
  unsigned irq = 0;
  std::string driver;
};

void AddPci(const PciDevice& pci, Files& files) {
  const std::string at = "pci/" + pci.name + "/";
  files[at + "vendor"] = fmt::format("0x{:04x}\n", pci.vendor);
  files[at + "device"] = fmt::format("0x{:04x}\n", pci.device);
  files[at + "class"] = fmt::format("0x{:06x}\n", pci.pci_class);
  files[at + "subsystem_vendor"] = fmt::format("0x{:04x}\n", pci.subsystem & 0xffff);
  files[at + "subsystem_device"] = fmt::format("0x{:04x}\n", pci.subsystem >> 16);
  files[at + "revision"] = "0xa1\n";
  files[at + "numa_node"] = fmt::format("{}\n", pci.numa);
  files[at + "irq"] = fmt::format("{}\n", pci.irq);
  files[at + "enable"] = "1\n";
  files[at + "config"] = ConfigSpace(pci.vendor, pci.device, pci.pci_class, pci.subsystem);
  files[at + "uevent"] = fmt::format(
      "DRIVER={}\nPCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\nPCI_SLOT_NAME="
      "{}\n",
      pci.driver, pci.pci_class, pci.vendor, pci.device, pci.subsystem & 0xffff,
      pci.subsystem >> 16, pci.name);
  files[at + "modalias"] =
      fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd{:08X}bc{:02X}sc{:02X}i{:02X}\n", pci.vendor,
                  pci.device, pci.subsystem & 0xffff, pci.subsystem >> 16, pci.pci_class >> 16,
                  pci.pci_class >> 8 & 0xff, pci.pci_class & 0xff);
}

// The lines of "resource": start, end, flags of registers, frame buffer window and I/O.
std::string Resource(const Model& model, unsigned position) {
  const std::uint64_t registers = 0xe0000000ULL + position * 0x2000000ULL;
  const std::uint64_t window = 0x38000000000ULL + position * 0x4000000000ULL;
  std::string lines =
      fmt::format("{:#018x} {:#018x} {:#018x}\n{:#018x} {:#018x} {:#018x}\n", registers,
                  registers + 0xffffff, 0x40200, window, window + model.bar1_bytes - 1, 0x14220c);
  for (int i = 0; i < 11; ++i) lines += fmt::format("{:#018x} {:#018x} {:#018x}\n", 0, 0, 0);
  return lines;
}

std::string LinkSpeed(unsigned generation) {
  static constexpr const char* kSpeeds[] = {"", "2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
  return fmt::format("{} GT/s PCIe\n", kSpeeds[generation]);
}

void AddGpu(const Profile& profile, unsigned position, Files& files) {
  const Gpu& gpu = profile.gpus[position];
  const Model& model = profile.models[gpu.model];
  const std::string at = "pci/" + SysfsName(gpu) + "/";
  AddPci({.name = SysfsName(gpu),
          .vendor = kVendor,
          .device = model.pci_device,
          .pci_class = model.pci_class,
          .subsystem = model.pci_subsystem,
          .numa = gpu.numa,
          .irq = gpu.irq,
          .driver = "nvidia"},
         files);
  files[at + "resource"] = Resource(model, position);
  files[at + "local_cpulist"] =
      gpu.numa < 0 ? "\n" : profile.numa_cpus[static_cast<unsigned>(gpu.numa)] + "\n";
  files[at + "max_link_speed"] = LinkSpeed(model.pcie_generation);
  files[at + "current_link_speed"] = LinkSpeed(model.pcie_generation);
  files[at + "max_link_width"] = fmt::format("{}\n", model.pcie_width);
  files[at + "current_link_width"] = fmt::format("{}\n", model.pcie_width);
  if (!profile.drm) return;
  // Card 0 is the server's own display.
  files[at + fmt::format("drm/card{}/dev", position + 1)] =
      fmt::format("{}:{}\n", kDrmMajor, position + 1);
  files[at + fmt::format("drm/renderD{}/dev", 128 + position)] =
      fmt::format("{}:{}\n", kDrmMajor, 128 + position);
}

std::string DeviceNodes(const Profile& profile) {
  std::string list;
  const auto add = [&list](const std::string& path, unsigned major, unsigned minor,
                           const char* mode) {
    list += fmt::format("{} {} {} {}\n", path, major, minor, mode);
  };
  for (const Gpu& gpu : profile.gpus)
    add(fmt::format("/dev/nvidia{}", gpu.minor), kNvidiaMajor, gpu.minor, "0666");
  add("/dev/nvidiactl", kNvidiaMajor, 255, "0666");
  add("/dev/nvidia-modeset", kNvidiaMajor, 254, "0666");
  add("/dev/nvidia-uvm", kUvmMajor, 0, "0666");
  add("/dev/nvidia-uvm-tools", kUvmMajor, 1, "0666");
  for (unsigned i = 0; profile.drm && i < profile.gpus.size(); ++i) {
    add(fmt::format("/dev/dri/card{}", i + 1), kDrmMajor, i + 1, "0660");
    add(fmt::format("/dev/dri/renderD{}", 128 + i), kDrmMajor, 128 + i, "0666");
  }
  return list;
}

}  // namespace

std::string SysfsName(const Gpu& gpu) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", gpu.domain, gpu.bus, gpu.device);
}

std::map<std::string, std::string> RenderKernelFiles(const Profile& profile) {
  Files files;
  AddProc(profile, files);
  AddPci({.name = "0000:00:00.0",
          .vendor = 0x8086,
          .device = 0x2020,
          .pci_class = 0x060000,
          .subsystem = 0x07158086,
          .driver = ""},
         files);
  AddPci({.name = "0000:00:03.0",
          .vendor = 0x1af4,
          .device = 0x1041,
          .pci_class = 0x020000,
          .subsystem = 0x11001af4,
          .irq = 24,
          .driver = "virtio-pci"},
         files);
  for (unsigned i = 0; i < profile.gpus.size(); ++i) AddGpu(profile, i, files);
  files["dmi/product_name"] = profile.product + "\n";
  files["dev.list"] = DeviceNodes(profile);
  return files;
}

}  // namespace pawl::stand_in
