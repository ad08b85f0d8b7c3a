#include "gpu/pci.h"

#include <gtest/gtest.h>

#include "gpu/temporary_folder_test.h"

namespace pawl::gpu {
namespace {

void AddFunction(const TemporaryFolder& root, const std::string& address,
                 const std::string& device_class, const std::string& vendor) {
  const std::string folder = "sys/bus/pci/devices/" + address + "/";
  root.Write(folder + "class", "0x" + device_class + "\n");
  root.Write(folder + "vendor", "0x" + vendor + "\n");
  root.Write(folder + "device", "0x2330\n");
  root.Write(folder + "subsystem_vendor", "0x10de\n");
  root.Write(folder + "subsystem_device", "0x16c1\n");
}

TEST(ScanPci, ReadsWhatSysfsSays) {
  const TemporaryFolder root;
  AddFunction(root, "0000:3b:00.0", "030200", "10de");
  root.Write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  root.Write("sys/bus/pci/devices/0000:3b:00.0/sriov_totalvfs", "16\n");
  AddFunction(root, "0000:00:1f.0", "060100", "8086");
  root.Write("sys/bus/pci/devices/0000:ff:00.0/class", "0x030200\n");  // no vendor: half gone
  const auto functions = ScanPci(root.path());
  ASSERT_TRUE(functions);
  ASSERT_EQ(functions->size(), 2U);
  const PciFunction& gpu = functions->at(1);
  EXPECT_EQ(gpu.address, "0000:3b:00.0");
  EXPECT_EQ(gpu.device_class, "030200");
  EXPECT_EQ(gpu.vendor, "10de");
  EXPECT_EQ(gpu.device, "2330");
  EXPECT_EQ(gpu.subsystem_device, "16c1");
  EXPECT_EQ(gpu.numa_node, 1);
  EXPECT_TRUE(gpu.sriov_capable);
  EXPECT_TRUE(gpu.IsNvidiaGpu());
  EXPECT_EQ(NvidiaGpus(*functions).size(), 1U);
}

TEST(ScanPci, OfAMachineWithoutPciIsEmpty) {
  const TemporaryFolder root;
  EXPECT_TRUE(ScanPci(root.path()).value().empty());
}

TEST(NumaNode, IsUnknownWhereTheKernelSaysMinusOneOrNothing) {
  // spec/device-plugin.md, vector 12
  const TemporaryFolder root;
  const PciAddress address = PciAddress::Parse("00000000:3B:00.0").value();
  EXPECT_EQ(NumaNode(root.path(), address), std::nullopt);
  root.Write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "-1\n");
  EXPECT_EQ(NumaNode(root.path(), address), std::nullopt);
  root.Write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  EXPECT_EQ(NumaNode(root.path(), address), 1);
}

TEST(GpuMode, IsTheClassThatAllGpusShare) {  // spec/feature-discovery.md, vector 26
  Snapshot snapshot;
  snapshot.gpus.resize(2);
  snapshot.gpus[0].pci.bus = 1;
  snapshot.gpus[1].pci.bus = 2;
  const auto mode = [&snapshot](const std::string& first, const std::string& second) {
    std::vector<PciFunction> functions(2);
    functions[0].address = "0000:01:00.0";
    functions[0].device_class = first;
    functions[1].address = "0000:02:00.0";
    functions[1].device_class = second;
    if (second.empty()) functions.pop_back();
    return GpuMode(functions, snapshot);
  };
  EXPECT_EQ(mode("030200", "030200"), "compute");
  EXPECT_EQ(mode("030000", "030000"), "graphics");
  EXPECT_EQ(mode("030200", "030000"), "unknown");
  EXPECT_EQ(mode("030200", ""), "unknown");
  EXPECT_EQ(mode("068000", "068000"), "unknown");
  EXPECT_EQ(GpuMode({}, Snapshot{}), "unknown");
}

// A configuration space with one capability at 0x68.
std::string Config(std::string_view capability) {
  std::string config(256, '\0');
  config[0x06] = 0x10;
  config[0x34] = 0x68;
  config.replace(0x68, capability.size(), capability);
  return config;
}

constexpr std::string_view kVgpuBlock(
    "\x09\x00\x1bVF\x00\x16"
    "460.16\0\0\0\0r460_00\0\0\0",
    27);

TEST(Vgpu, TellsItsHostsDriver) {  // spec/feature-discovery.md, vector 31
  const auto found = VgpuFromConfig(Config(kVgpuBlock));
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->driver_version, "460.16");
  EXPECT_EQ((*found)->driver_branch, "r460_00");
}

TEST(Vgpu, IsNoneWithoutItsMark) {  // vector 32
  EXPECT_EQ(VgpuFromConfig(Config("\x09\x01\x1bXX")).value(), std::nullopt);
  EXPECT_EQ(VgpuFromConfig(std::string(256, '\0')).value(), std::nullopt);
  std::string no_capabilities = Config(kVgpuBlock);
  no_capabilities[0x06] = 0;
  EXPECT_EQ(VgpuFromConfig(no_capabilities).value(), std::nullopt);
}

TEST(Vgpu, IsFoundBehindOtherCapabilitiesAndRecords) {
  std::string config(256, '\0');
  config[0x06] = 0x10;
  config[0x34] = 0x40;
  config.replace(0x40, 3, "\x01\x80\x04");
  config.replace(0x80, 7, std::string_view("\x09\x00\x1eVF\x05\x03", 7));  // another record first
  config.replace(0x88, 22,
                 std::string_view("\x00\x16"
                                  "470.1\0\0\0\0\0r470\0\0\0\0\0\0",
                                  22));
  const auto found = VgpuFromConfig(config);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)->driver_version, "470.1");
}

TEST(Vgpu, ReadsNothingOutsideABrokenSpace) {
  // A record of no length, which goes round for ever elsewhere.
  EXPECT_FALSE(VgpuFromConfig(Config(std::string_view("\x09\x00\x1bVF\x07\x00", 7))));
  // A record that the capability has no room for.
  EXPECT_FALSE(VgpuFromConfig(Config(std::string_view("\x09\x00\x08VF\x00\x16\x31", 8))));
  // A capability list that goes round.
  EXPECT_EQ(VgpuFromConfig(Config("\x01\x68")).value(), std::nullopt);
  // A capability at the very end.
  std::string config(256, '\xfe');
  config[0x34] = '\xff';
  EXPECT_EQ(VgpuFromConfig(config).value(), std::nullopt);
  EXPECT_EQ(VgpuFromConfig("short").value(), std::nullopt);
}

TEST(Vgpu, IsUnknownWhereTheSpaceCannotBeReadWhole) {
  const TemporaryFolder root;
  AddFunction(root, "0000:3b:00.0", "030200", "10de");
  AddFunction(root, "0000:00:1f.0", "060100", "8086");  // not ours: is not read
  const std::vector<PciFunction> functions = ScanPci(root.path()).value();
  EXPECT_FALSE(DetectVgpu(root.path(), functions));
  root.Write("sys/bus/pci/devices/0000:3b:00.0/config", std::string(64, '\0'));
  EXPECT_FALSE(DetectVgpu(root.path(), functions));
  root.Write("sys/bus/pci/devices/0000:3b:00.0/config", Config(kVgpuBlock));
  EXPECT_EQ(DetectVgpu(root.path(), functions).value()->driver_version, "460.16");
}

}  // namespace
}  // namespace pawl::gpu
