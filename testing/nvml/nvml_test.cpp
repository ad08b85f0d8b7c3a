// The library as a program meets it: loaded with dlopen, asked by name.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "testing/fixture/machine.h"
#include "testing/nvml/nvml_abi.h"

namespace pawl::stand_in {
namespace {

// A machine with all its nodes and an initialised library.
class Nvml : public testing::Test {
 protected:
  void Start(const std::string& profile) {
    machine_.emplace(profile);
    machine_->AddAllNodes();
    nvml_.emplace(machine_->library());
    ASSERT_EQ(nvml_->Call("nvmlInit_v2"), NVML_SUCCESS);
  }
  unsigned Unsigned(const char* function, nvmlDevice_t device) {
    unsigned value = 0xdead;
    EXPECT_EQ(nvml_->Call(function, device, &value), NVML_SUCCESS) << function;
    return value;
  }

  std::optional<Machine> machine_;
  std::optional<Library> nvml_;
};

TEST(NvmlNodes, WithoutTheControlNodeTheDriverIsNotLoaded) {
  Machine machine("t4x4");
  machine.AddGpuNode(0);
  const Library nvml(machine.library());
  EXPECT_EQ(nvml.Call("nvmlInit_v2"), NVML_ERROR_DRIVER_NOT_LOADED);
  unsigned count = 0;
  EXPECT_EQ(nvml.Call("nvmlDeviceGetCount_v2", &count), NVML_ERROR_UNINITIALIZED);
}

TEST(NvmlNodes, AGpuIsListedWhenItsNodeIsThere) {
  Machine machine("t4x4");
  machine.AddControlNode();
  machine.AddGpuNode(1);
  machine.AddGpuNode(3);
  const Library nvml(machine.library());
  ASSERT_EQ(nvml.Call("nvmlInit_v2"), NVML_SUCCESS);
  ASSERT_EQ(nvml.Count(), 2U);
  unsigned minor = 0;
  ASSERT_EQ(nvml.Call("nvmlDeviceGetMinorNumber", nvml.Device(1), &minor), NVML_SUCCESS);
  EXPECT_EQ(minor, 3U) << "the index counts what is visible, the minor number does not change";
  EXPECT_EQ(nvml.Text("nvmlDeviceGetUUID", nvml.Device(0)),
            "GPU-0c8be3d7-24f5-4e61-9b0a-7f3d52a8c641");
}

TEST(NvmlNodes, ANodeThatMayNotBeOpenedHidesItsGpu) {
  Machine machine("t4x4");
  machine.AddControlNode();
  machine.AddGpuNode(0);
  machine.AddUnopenableGpuNode(2);
  const Library nvml(machine.library());
  ASSERT_EQ(nvml.Call("nvmlInit_v2"), NVML_SUCCESS);
  EXPECT_EQ(nvml.Count(), 1U);
  nvmlDevice_t hidden = nullptr;
  EXPECT_EQ(
      nvml.Call("nvmlDeviceGetHandleByUUID", "GPU-e7d240b9-6c3a-4f18-8275-90b1ce5fa862", &hidden),
      NVML_ERROR_NOT_FOUND);
}

TEST(NvmlNodes, ANodeOfAnotherDriverIsNoGpu) {
  Machine machine("t4x4");
  machine.AddControlNode();
  machine.AddGpuNode(0, 1);  // major 1: memory devices
  const Library nvml(machine.library());
  ASSERT_EQ(nvml.Call("nvmlInit_v2"), NVML_SUCCESS);
  EXPECT_EQ(nvml.Count(), 0U);
}

TEST(NvmlNodes, TheVariablesOfContainersChangeNothing) {
  Machine machine("t4x4");
  machine.AddAllNodes();
  setenv("NVIDIA_VISIBLE_DEVICES", "none", 1);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const Library nvml(machine.library());
  ASSERT_EQ(nvml.Call("nvmlInit_v2"), NVML_SUCCESS);
  EXPECT_EQ(nvml.Count(), 4U);
  unsetenv("NVIDIA_VISIBLE_DEVICES");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(Nvml, InitIsCounted) {
  Start("t4x4");
  EXPECT_EQ(nvml_->Call("nvmlInit_v2"), NVML_SUCCESS);
  EXPECT_EQ(nvml_->Call("nvmlShutdown"), NVML_SUCCESS);
  EXPECT_EQ(nvml_->Count(), 4U);
  EXPECT_EQ(nvml_->Call("nvmlShutdown"), NVML_SUCCESS);
  EXPECT_EQ(nvml_->Call("nvmlShutdown"), NVML_ERROR_UNINITIALIZED);
}

TEST_F(Nvml, TheLibraryCanBeUnloaded) {
  Start("t4x4");
  ASSERT_EQ(nvml_->Call("nvmlShutdown"), NVML_SUCCESS);
  nvml_.reset();
  EXPECT_EQ(dlopen(machine_->library().c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

TEST_F(Nvml, VersionsAreTheProfiles) {
  Start("t4x4");
  std::array<char, 80> text{};
  ASSERT_EQ(nvml_->Call("nvmlSystemGetDriverVersion", text.data(), 80U), NVML_SUCCESS);
  EXPECT_STREQ(text.data(), "550.163.01");
  ASSERT_EQ(nvml_->Call("nvmlSystemGetNVMLVersion", text.data(), 80U), NVML_SUCCESS);
  EXPECT_STREQ(text.data(), "12.550.163.01");
  int cuda = 0;
  ASSERT_EQ(nvml_->Call("nvmlSystemGetCudaDriverVersion", &cuda), NVML_SUCCESS);
  EXPECT_EQ(cuda, 12040);
  EXPECT_EQ(nvml_->Call("nvmlSystemGetDriverVersion", text.data(), 10U),
            NVML_ERROR_INSUFFICIENT_SIZE);
}

TEST_F(Nvml, ATeslaT4IsDescribed) {
  Start("t4x4");
  nvmlDevice_t gpu = nvml_->Device(0);
  EXPECT_EQ(nvml_->Text("nvmlDeviceGetName", gpu), "Tesla T4");
  EXPECT_EQ(nvml_->Text("nvmlDeviceGetSerial", gpu), "1562021011478");
  int major = 0;
  int minor = 0;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetCudaComputeCapability", gpu, &major, &minor), NVML_SUCCESS);
  EXPECT_EQ(major, 7);
  EXPECT_EQ(minor, 5);
  nvmlMemory_t memory{};
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo", gpu, &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, 16106127360U);
  EXPECT_EQ(memory.free + memory.used, memory.total);
  EXPECT_EQ(Unsigned("nvmlDeviceGetArchitecture", gpu), 6U);
}

// spec/nvml.md §9, vectors 16 and 17 for this board.
TEST_F(Nvml, BusIdsAreWrittenAsTheDriverDoes) {
  Start("t4x4");
  nvmlPciInfo_t info{};
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetPciInfo_v3", nvml_->Device(1), &info), NVML_SUCCESS);
  EXPECT_STREQ(info.busId, "00000000:3B:00.0");
  EXPECT_STREQ(info.busIdLegacy, "0000:3B:00.0");
  EXPECT_EQ(info.pciDeviceId, 0x1eb810deU);
  nvmlDevice_t found = nullptr;
  for (const char* text : {"00000000:3B:00.0", "0000:3b:00.0", "3b:00.0"}) {
    found = nullptr;
    EXPECT_EQ(nvml_->Call("nvmlDeviceGetHandleByPciBusId_v2", text, &found), NVML_SUCCESS) << text;
    EXPECT_EQ(found, nvml_->Device(1)) << text;
  }
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetHandleByPciBusId_v2", "0000:3c:00.0", &found),
            NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetHandleByPciBusId_v2", "rubbish", &found),
            NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, OnlyTheThirdVersionOfPciInfoWritesTheLongBusId) {
  Start("t4x4");
  nvmlPciInfo_t info{};
  info.busId[0] = '?';
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetPciInfo_v2", nvml_->Device(0), &info), NVML_SUCCESS);
  EXPECT_EQ(info.busId[0], '?');
  EXPECT_EQ(info.bus, 0x1bU);
}

TEST_F(Nvml, AVersionedStructNeedsItsWord) {
  Start("t4x4");
  nvmlMemory_v2_t memory{};
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo_v2", nvml_->Device(0), &memory),
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  memory.version = 0x02000028;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo_v2", nvml_->Device(0), &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, memory.reserved + memory.free + memory.used);
  EXPECT_EQ(memory.used, 0U);
}

TEST_F(Nvml, AHandleThatIsNoneIsAnInvalidArgument) {
  Start("t4x4");
  unsigned value = 0;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetIndex", nvmlDevice_t{}, &value), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetIndex", reinterpret_cast<nvmlDevice_t>(&value), &value),
            NVML_ERROR_INVALID_ARGUMENT);
  nvmlDevice_t none = nullptr;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetHandleByIndex_v2", 4U, &none), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetIndex", nvml_->Device(0), static_cast<unsigned*>(nullptr)),
            NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, ATeslaT4HasNeitherMigNorNvLinkNorFabric) {
  Start("t4x4");
  nvmlDevice_t gpu = nvml_->Device(0);
  unsigned current = 0;
  unsigned pending = 0;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetMigMode", gpu, &current, &pending), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(Unsigned("nvmlDeviceGetMaxMigDeviceCount", gpu), 0U);
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetNvLinkState", gpu, 0U, &current), NVML_ERROR_NOT_SUPPORTED);
  nvmlGpuFabricInfo_v3_t fabric{};
  fabric.version = 0x03000028;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetGpuFabricInfoV", gpu, &fabric), NVML_ERROR_NOT_SUPPORTED);
  unsigned ignored = 0;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetRemappedRows", gpu, &current, &pending, &ignored, &ignored),
            NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(Nvml, GpusOfOneSocketShareANumaNode) {
  Start("t4x4");
  unsigned level = 0;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetTopologyCommonAncestor", nvml_->Device(0), nvml_->Device(1),
                        &level),
            NVML_SUCCESS);
  EXPECT_EQ(level, 40U);
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetTopologyCommonAncestor", nvml_->Device(0), nvml_->Device(3),
                        &level),
            NVML_SUCCESS);
  EXPECT_EQ(level, 50U);
  unsigned long cpus = 0;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetCpuAffinity", nvml_->Device(3), 1U, &cpus), NVML_SUCCESS);
  EXPECT_EQ(cpus, 0xffff0000UL);
}

// The hybrid cube mesh: links between 0 and each other GPU, found as spec/device-plugin.md §9 does.
TEST_F(Nvml, LinksBetweenGpusAreFoundByTheBusIdOfTheFarEnd) {
  Start("v100x8");
  std::map<std::string, int> links;
  for (unsigned link = 0; link < kNvmlMaxLinks; ++link) {
    unsigned active = 0;
    if (nvml_->Call("nvmlDeviceGetNvLinkState", nvml_->Device(0), link, &active) != NVML_SUCCESS ||
        active != 1)
      continue;
    nvmlPciInfo_t peer{};
    ASSERT_EQ(nvml_->Call("nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml_->Device(0), link, &peer),
              NVML_SUCCESS);
    ++links[peer.busId];
  }
  EXPECT_EQ(links, (std::map<std::string, int>{{"00000000:07:00.0", 1},
                                               {"00000000:0A:00.0", 1},
                                               {"00000000:0B:00.0", 2},
                                               {"00000000:85:00.0", 2}}));
}

TEST_F(Nvml, EveryLinkOfAnH100EndsAtASwitch) {
  Start("h100x8");
  unsigned type = 0;
  for (unsigned link = 0; link < 18; ++link) {
    ASSERT_EQ(nvml_->Call("nvmlDeviceGetNvLinkRemoteDeviceType", nvml_->Device(7), link, &type),
              NVML_SUCCESS);
    EXPECT_EQ(type, 2U);
  }
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetNvLinkRemoteDeviceType", nvml_->Device(7), 18U, &type),
            NVML_ERROR_INVALID_ARGUMENT);
}

// spec/feature-discovery.md, vector 41.
TEST_F(Nvml, AnH100IsInAFabricAndHasMigSwitchedOff) {
  Start("h100x8");
  nvmlDevice_t gpu = nvml_->Device(0);
  unsigned current = 7;
  unsigned pending = 7;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetMigMode", gpu, &current, &pending), NVML_SUCCESS);
  EXPECT_EQ(current, 0U);
  nvmlGpuFabricInfo_v2_t second{};
  second.version = 0x02000024;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetGpuFabricInfoV", gpu, &second), NVML_SUCCESS);
  EXPECT_EQ(second.state, 3);
  EXPECT_EQ(second.clusterUuid[15], 1);
  nvmlGpuFabricInfo_t first{};
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetGpuFabricInfo", gpu, &first), NVML_SUCCESS);
  EXPECT_EQ(first.cliqueId, 0U);
  nvmlMemory_t memory{};
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo", gpu, &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, 85899345920U);
}

TEST_F(Nvml, EachFieldAnswersForItself) {
  Start("t4x4");
  std::array<nvmlFieldValue_t, 3> fields{};
  fields[0].fieldId = 83;   // energy
  fields[1].fieldId = 142;  // remapped rows: not before Ampere
  fields[2].fieldId = 186;  // power now
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetFieldValues", nvml_->Device(0), 3, fields.data()),
            NVML_SUCCESS);
  EXPECT_EQ(fields[0].nvmlReturn, NVML_SUCCESS);
  EXPECT_EQ(fields[0].valueType, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
  EXPECT_EQ(fields[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(fields[2].value.uiVal, 9870U);
  EXPECT_GT(fields[2].timestamp, 0);
}

TEST_F(Nvml, CountAndFillAsksForRoom) {
  Start("v100x8");
  unsigned count = 0;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetTopologyNearestGpus", nvml_->Device(0), 30U, &count,
                        static_cast<nvmlDevice_t*>(nullptr)),
            NVML_ERROR_INSUFFICIENT_SIZE);
  ASSERT_EQ(count, 2U) << "GPUs of the other switch below the same host bridge";
  std::vector<nvmlDevice_t> nearest(count);
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetTopologyNearestGpus", nvml_->Device(0), 30U, &count,
                        nearest.data()),
            NVML_SUCCESS);
  EXPECT_EQ(nearest[1], nvml_->Device(3));
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetComputeRunningProcesses_v3", nvml_->Device(0), &count,
                        static_cast<nvmlProcessInfo_t*>(nullptr)),
            NVML_SUCCESS);
  EXPECT_EQ(count, 0U);
}

TEST_F(Nvml, RegisteringAnUnsupportedEventRegistersNone) {
  Start("t4x4");
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(nvml_->Call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  NvmlU64 supported = 0;
  ASSERT_EQ(nvml_->Call("nvmlDeviceGetSupportedEventTypes", nvml_->Device(0), &supported),
            NVML_SUCCESS);
  EXPECT_EQ(supported & 0xb, 0xbU);
  EXPECT_EQ(nvml_->Call("nvmlDeviceRegisterEvents", nvml_->Device(0), NvmlU64{0x100}, set),
            NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvml_->Call("nvmlDeviceRegisterEvents", nvml_->Device(0), NvmlU64{0xb}, set),
            NVML_SUCCESS);
  EXPECT_EQ(nvml_->Call("nvmlEventSetFree", set), NVML_SUCCESS);
  EXPECT_EQ(nvml_->Call("nvmlEventSetFree", set), NVML_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace pawl::stand_in
