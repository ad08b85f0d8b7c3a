#include "gpu/snapshot.h"

#include <gtest/gtest.h>

#include "gpu/fake_nvml_test.h"
#include "gpu/temporary_folder_test.h"

namespace pawl::gpu {
namespace {

using nvml::Return;

class Reading : public testing::Test {
 protected:
  Reading() { FakeNvml::Get() = FakeNvml::FourT4(); }
  ~Reading() override { FakeNvml::Get() = {}; }
  FakeNvml& fake() { return FakeNvml::Get(); }
  Snapshot Take() {
    const Result<Snapshot> taken =
        TakeSnapshot(LoadFakeNvml(), root_.path(), [this](uint32_t i) { order_.push_back(i); });
    EXPECT_TRUE(taken) << taken.error().message();
    return taken.value();
  }
  TemporaryFolder root_;
  std::vector<uint32_t> order_;
};

TEST_F(Reading, GivesWhatNvmlSaysOfEachGpu) {
  root_.Write("sys/bus/pci/devices/0000:3c:00.0/numa_node", "1\n");
  root_.Write("sys/bus/pci/devices/0000:3d:00.0/numa_node", "-1\n");
  const Snapshot snapshot = Take();
  EXPECT_EQ(snapshot.driver_version, "550.107.02");
  EXPECT_EQ(snapshot.cuda_version, 12040);
  ASSERT_EQ(snapshot.gpus.size(), 4U);
  const Gpu& gpu = snapshot.gpus[1];
  EXPECT_EQ(gpu.index, 1U);
  EXPECT_EQ(gpu.minor, 2U);
  EXPECT_EQ(gpu.DeviceNode(), "/dev/nvidia2");
  EXPECT_EQ(gpu.uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(gpu.name, "NVIDIA T4");
  EXPECT_EQ(gpu.pci.ToSysfs(), "0000:3c:00.0");
  EXPECT_EQ(gpu.pci_device_id, "1eb8");
  EXPECT_EQ(gpu.memory_bytes, 17179869184U);
  EXPECT_EQ(gpu.compute_major, 7);
  EXPECT_EQ(gpu.mig_enabled, std::nullopt);
  EXPECT_EQ(gpu.fabric, std::nullopt);
  EXPECT_EQ(gpu.numa_node, 1);
  EXPECT_EQ(snapshot.gpus[2].numa_node, std::nullopt);
  EXPECT_EQ(snapshot.gpus[3].numa_node, std::nullopt);
}

TEST_F(Reading, ScoresPairsByTheirCommonAncestor) {
  const Snapshot snapshot = Take();
  ASSERT_EQ(snapshot.links.size(), 6U);
  EXPECT_EQ(snapshot.links[0], (Link{.a = 0, .b = 1, .pcie_score = 40, .nvlinks = 0}));
  EXPECT_EQ(snapshot.links[1], (Link{.a = 0, .b = 2, .pcie_score = 30, .nvlinks = 0}));
}

TEST_F(Reading, CountsNvLinksAndGoesOnBehindAnAbsentOne) {  // spec/nvml.md §9, vector 39
  fake().gpus[0].nvlinks = {{0, fake().gpus[1].pci},
                            {2, fake().gpus[1].pci},
                            {35, fake().gpus[3].pci},
                            {7, PciAddress{.domain = 0, .bus = 0xa0, .device = 0}}};  // a switch
  const Snapshot snapshot = Take();
  EXPECT_EQ(snapshot.links[0].nvlinks, 2);
  EXPECT_EQ(snapshot.links[0].score(), 240);
  EXPECT_EQ(snapshot.links[1].nvlinks, 0);
  EXPECT_EQ(snapshot.links[2].nvlinks, 1);
}

TEST_F(Reading, TellsTheGpuBeforeItIsTouched) {
  Take();
  EXPECT_EQ(order_, (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_F(Reading, LeavesOutABoardForADisplay) {
  fake().gpus[1].name = "NVIDIA DGX Display";
  const Snapshot snapshot = Take();
  EXPECT_EQ(snapshot.gpus.size(), 3U);
  EXPECT_TRUE(snapshot.silent.empty());
}

TEST_F(Reading, GoesOnWhenOneGpuIsLost) {
  fake().folder = root_.path();
  root_.Write("code-nvmlDeviceGetHandleByIndex_v2-2", "15");
  const Snapshot snapshot = Take();
  EXPECT_EQ(snapshot.gpus.size(), 3U);
  ASSERT_EQ(snapshot.silent.size(), 1U);
  EXPECT_EQ(snapshot.silent[0].index, 2U);
  EXPECT_EQ(snapshot.silent[0].problem, "nvmlDeviceGetHandleByIndex_v2: GPU is lost (15)");
}

TEST_F(Reading, LeavesOutWhatAGpuDoesNotSupport) {
  fake().missing = {"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetCudaComputeCapability",
                    "nvmlDeviceGetTopologyCommonAncestor", "nvmlDeviceGetNvLinkState"};
  const Snapshot snapshot = Take();
  ASSERT_EQ(snapshot.gpus.size(), 4U);
  EXPECT_EQ(snapshot.gpus[0].memory_bytes, std::nullopt);
  EXPECT_EQ(snapshot.gpus[0].compute_major, 0);
  EXPECT_TRUE(snapshot.links.empty());
}

nvml::GpuFabricInfo Fabric(uint8_t state) {
  nvml::GpuFabricInfo fabric{};
  for (uint8_t i = 0; i < 16; ++i) fabric.cluster_uuid[i] = static_cast<uint8_t>(0x11 * i);
  fabric.state = state;
  fabric.clique_id = 2;
  return fabric;
}

TEST_F(Reading, KnowsAGpuOfAFabric) {  // spec/nvml.md §9, vector 31
  fake().gpus[0].fabric = Fabric(3);
  fake().gpus[1].fabric = Fabric(2);
  fake().gpus[2].fabric = Fabric(0);
  fake().gpus[3].fabric = Fabric(3);
  fake().gpus[3].fabric->status = Return::kUnknown;
  const Snapshot snapshot = Take();
  EXPECT_EQ(snapshot.gpus[0].fabric,
            (FabricInfo{.cluster_uuid = "00112233-4455-6677-8899-aabbccddeeff",
                        .clique_id = 2,
                        .attached = true}));
  EXPECT_FALSE(snapshot.gpus[1].fabric->attached);
  EXPECT_EQ(snapshot.gpus[2].fabric, std::nullopt);
  EXPECT_FALSE(snapshot.gpus[3].fabric->attached);
}

TEST_F(Reading, ProbesOnlyWhatTheGpuHas) {
  fake().gpus[0].mig = true;
  fake().calls.clear();
  const auto probe = ProbeGpu(LoadFakeNvml(), 0, true, false);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->mig_enabled, true);
  EXPECT_EQ(fake().calls,
            (std::vector<std::string>{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetMemoryInfo",
                                      "nvmlDeviceGetMigMode"}));
}

TEST_F(Reading, ProbeSaysThatAGpuIsLost) {
  fake().folder = root_.path();
  root_.Write("code-nvmlDeviceGetMemoryInfo-1", "15");
  const auto probe = ProbeGpu(LoadFakeNvml(), 1, false, false);
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, Return::kGpuIsLost);
}

TEST_F(Reading, MergedKeepsAGpuThatVanishedAndItsLinks) {
  const Snapshot known = Take();
  fake().gpus.erase(fake().gpus.begin() + 1);
  fake().levels = {{{1, 2}, 20}};
  const Snapshot merged = Merge(known, Take());
  ASSERT_EQ(merged.gpus.size(), 4U);
  EXPECT_EQ(merged.gpus[1].uuid, known.gpus[1].uuid);
  EXPECT_EQ(merged.gpus[1].problem, "GpuLost: NVML does not list it any more");
  EXPECT_TRUE(merged.gpus[0].usable());
  EXPECT_EQ(merged.gpus[2].index, 1U);
  EXPECT_EQ(merged.links, known.links);
}

TEST_F(Reading, MergedGivesASilentGpuItsKnownName) {
  const Snapshot known = Take();
  Snapshot fresh = known;
  fresh.gpus.erase(fresh.gpus.begin() + 3);
  fresh.links.clear();
  fresh.silent = {{.index = 3, .problem = "NvmlHung: nvmlDeviceGetName did not answer within 2 s"}};
  const Snapshot merged = Merge(known, fresh);
  EXPECT_TRUE(merged.silent.empty());
  EXPECT_EQ(merged.gpus[3].problem, "NvmlHung: nvmlDeviceGetName did not answer within 2 s");
  EXPECT_EQ(merged.gpus[3].uuid, known.gpus[3].uuid);
  EXPECT_EQ(merged.links.size(), 3U);  // those of the GPU that did not answer are remembered
}

TEST_F(Reading, MergedTakesAGpuBackThatAnswersAgain) {
  Snapshot known = Take();
  known.gpus[2].problem = "NvmlHung: …";
  EXPECT_TRUE(Merge(known, Take()).gpus[2].usable());
}

TEST_F(Reading, SurvivesJson) {
  fake().gpus[0].mig = false;
  fake().gpus[0].fabric = Fabric(3);
  Snapshot snapshot = Take();
  snapshot.gpus[2].problem = "GpuLost: …";
  snapshot.silent = {{.index = 7, .problem = "NvmlHung: …"}};
  const Result<Snapshot> read = SnapshotFromJson(ToJsonValue(snapshot));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, snapshot);
}

struct BadJson {
  const char* text;
  const char* message;
};
TEST(SnapshotJson, NamesThePlaceOfWhatIsWrong) {
  const BadJson cases[] = {
      {"[]", "snapshot: expected an object"},
      {R"({"driver_version":1,"cuda_version":0,"gpus":[]})",
       "snapshot.driver_version: expected a text"},
      {R"({"driver_version":"","cuda_version":0,"gpus":[{"index":-1}]})",
       "gpus[0].index: expected a whole number in range"},
      {R"({"driver_version":"","cuda_version":0,"gpus":[],"links":[{"a":0,"b":1,"pcie_score":1,"nvlinks":0}]})",
       "links: expected a < b, both positions in gpus"},
  };
  for (const BadJson& one : cases) {
    const Result<Snapshot> read = SnapshotFromJson(ParseJson(one.text).value());
    ASSERT_FALSE(read) << one.text;
    EXPECT_EQ(read.error().message(), one.message);
  }
}

TEST(PciAddress, IsWrittenAsSysfsDoes) {  // spec/nvml.md §9, vectors 17 and 18
  EXPECT_EQ(PciAddress::Parse("00000000:07:00.0").value().ToSysfs(), "0000:07:00.0");
  EXPECT_EQ(PciAddress::Parse("00010000:C1:00.0").value().ToSysfs(), "10000:c1:00.0");
  EXPECT_EQ(PciAddress::Parse("0000:3b:1f.0").value().ToSysfs(), "0000:3b:1f.0");
  EXPECT_FALSE(PciAddress::Parse("3b:00.0"));
  EXPECT_FALSE(PciAddress::Parse("0000:xx:00.0"));
}

}  // namespace
}  // namespace pawl::gpu
