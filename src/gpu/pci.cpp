#include "gpu/pci.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/text.h"

namespace pawl::gpu {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr size_t kConfigSize = 256;

// A hexadecimal attribute without its 0x; nothing where it cannot be read.
std::optional<std::string> Attribute(const std::string& folder, std::string_view name) {
  const Result<std::string> text = ReadFile(Under(folder, name), 4096);
  if (!text) return std::nullopt;
  std::string_view digits = Trim(*text);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  return ToLower(digits);
}

std::optional<int> ReadNumaNode(const std::string& folder) {
  const Result<std::string> text = ReadFile(Under(folder, "numa_node"), 4096);
  if (!text) return std::nullopt;
  const std::optional<uint64_t> node = ParseUnsigned(Trim(*text));  // "-1" is no number here
  constexpr uint64_t kMost = 1 << 16;
  if (!node || *node > kMost) return std::nullopt;
  return static_cast<int>(*node);
}

uint8_t Byte(std::string_view bytes, size_t offset) { return static_cast<uint8_t>(bytes[offset]); }

// The first vendor-specific capability of a configuration space; empty where there is none.
std::string_view VendorCapability(std::string_view config) {
  constexpr size_t kStatus = 0x06;
  constexpr uint8_t kHasCapabilities = 0x10;
  constexpr size_t kFirst = 0x34;
  constexpr uint8_t kVendorSpecific = 0x09;
  if (config.size() < kConfigSize || (Byte(config, kStatus) & kHasCapabilities) == 0) return {};
  std::vector<bool> seen(kConfigSize, false);
  size_t offset = Byte(config, kFirst);
  while (offset != 0 && !seen[offset] && offset + 2 < kConfigSize) {
    seen[offset] = true;
    const uint8_t id = Byte(config, offset);
    if (id == 0xff) return {};
    if (id == kVendorSpecific) {
      return config.substr(0, kConfigSize).substr(offset, Byte(config, offset + 2));
    }
    offset = Byte(config, offset + 1);
  }
  return {};
}

std::string UntilNul(std::string_view bytes) {
  return std::string(bytes.substr(0, bytes.find('\0')));
}

}  // namespace

bool PciFunction::IsNvidiaGpu() const {
  return vendor == "10de" && (device_class.starts_with("0300") || device_class.starts_with("0302"));
}

Result<std::vector<PciFunction>> ScanPci(const std::string& root) {
  const std::string devices = Under(root, kDevices);
  const Result<std::vector<std::string>> names = ListFolder(devices);
  if (!names) {
    if (names.error().kind() == ErrorKind::kNotFound) return std::vector<PciFunction>{};
    return Fail(names.error());
  }
  std::vector<PciFunction> functions;
  for (const std::string& name : *names) {
    const std::string folder = Under(devices, name);
    std::optional<std::string> device_class = Attribute(folder, "class");
    std::optional<std::string> vendor = Attribute(folder, "vendor");
    std::optional<std::string> device = Attribute(folder, "device");
    if (!device_class || !vendor || !device) continue;
    functions.push_back(PciFunction{
        .address = name,
        .device_class = std::move(*device_class),
        .vendor = std::move(*vendor),
        .device = std::move(*device),
        .subsystem_vendor = Attribute(folder, "subsystem_vendor").value_or(""),
        .subsystem_device = Attribute(folder, "subsystem_device").value_or(""),
        .numa_node = ReadNumaNode(folder),
        .sriov_capable = Exists(Under(folder, "sriov_totalvfs")),
    });
  }
  return functions;
}

std::vector<PciFunction> NvidiaGpus(const std::vector<PciFunction>& functions) {
  std::vector<PciFunction> gpus;
  std::copy_if(functions.begin(), functions.end(), std::back_inserter(gpus),
               [](const PciFunction& function) { return function.IsNvidiaGpu(); });
  return gpus;
}

std::optional<int> NumaNode(const std::string& root, const PciAddress& address) {
  return ReadNumaNode(Under(Under(root, kDevices), address.ToSysfs()));
}

std::string GpuMode(const std::vector<PciFunction>& functions, const Snapshot& snapshot) {
  std::map<std::string_view, std::string_view> classes;
  for (const PciFunction& function : functions) classes[function.address] = function.device_class;
  const auto all_are = [&](std::string_view device_class) {
    return std::all_of(snapshot.gpus.begin(), snapshot.gpus.end(), [&](const Gpu& gpu) {
      const std::string address = gpu.pci.ToSysfs();
      const auto found = classes.find(address);
      return found != classes.end() && found->second == device_class;
    });
  };
  if (snapshot.gpus.empty()) return "unknown";
  if (all_are("030200")) return "compute";
  if (all_are("030000")) return "graphics";
  return "unknown";
}

Result<std::optional<VgpuHost>> VgpuFromConfig(std::string_view config) {
  constexpr size_t kFirstRecord = 5;
  constexpr uint8_t kHostRecord = 0;
  constexpr size_t kTextSize = 10;
  constexpr size_t kRecordSize = 2 + 2 * kTextSize;
  const std::string_view block = VendorCapability(config);
  if (block.size() < kFirstRecord || block[3] != 'V' || block[4] != 'F') return std::nullopt;
  size_t offset = kFirstRecord;
  while (offset + 2 <= block.size()) {
    const uint8_t id = Byte(block, offset);
    const uint8_t length = Byte(block, offset + 1);
    if (id == kHostRecord) {
      if (offset + kRecordSize > block.size()) break;
      return VgpuHost{.driver_version = UntilNul(block.substr(offset + 2, kTextSize)),
                      .driver_branch = UntilNul(block.substr(offset + 2 + kTextSize, kTextSize))};
    }
    if (length == 0) break;  // would go round for ever
    offset += length;
  }
  return Fail(ErrorKind::kInvalid, "the vGPU's capability has no whole record of its host driver");
}

Result<std::optional<VgpuHost>> DetectVgpu(const std::string& root,
                                           const std::vector<PciFunction>& functions) {
  std::optional<VgpuHost> last;
  for (const PciFunction& function : functions) {
    if (function.vendor != "10de") continue;
    const std::string path = Under(Under(root, kDevices), function.address + "/config");
    const Result<std::string> config = ReadFile(path, 65536);
    if (!config) return Fail(config.error());
    if (config->size() < kConfigSize) {
      return Fail(ErrorKind::kPermission,
                  path + ": got " + std::to_string(config->size()) + " bytes, expected 256");
    }
    Result<std::optional<VgpuHost>> found = VgpuFromConfig(*config);
    if (!found) return Fail(found.error().With(path));
    if (*found) last = std::move(**found);
  }
  return last;
}

}  // namespace pawl::gpu
