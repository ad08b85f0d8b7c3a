#include "agent/decide/labels.h"

#include <gtest/gtest.h>

namespace pawl::agent {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

LabelInput Machine(int count, const std::string& name, uint64_t memory, int major, int minor) {
  LabelInput input;
  input.snapshot.driver_version = "550.163.01";
  input.snapshot.cuda_version = 12040;
  for (int i = 0; i < count; ++i) {
    gpu::Gpu gpu;
    gpu.index = static_cast<uint32_t>(i);
    gpu.uuid = "GPU-" + std::to_string(i);
    gpu.name = name;
    gpu.memory_bytes = memory;
    gpu.compute_major = major;
    gpu.compute_minor = minor;
    input.snapshot.gpus.push_back(gpu);
  }
  input.vgpu.emplace();  // looked, and there is none
  return input;
}

LabelInput MockModel(int count) { return Machine(count, "MOCKMODEL", 300 * kMebibyte, 8, 0); }

void Attach(LabelInput& input, const std::string& uuid, uint32_t clique) {
  for (gpu::Gpu& gpu : input.snapshot.gpus) {
    gpu.fabric = gpu::FabricInfo{.cluster_uuid = uuid, .clique_id = clique, .attached = true};
  }
}

void Share(LabelInput& input, SharingStrategy strategy, int replicas, bool renamed,
           const std::string& resource = "nvidia.com/gpu") {
  input.sharing.strategy = strategy;
  input.sharing.resources[resource] = ResourceSharing{.replicas = replicas, .renamed = renamed};
}

std::string Value(const LabelInput& input, const std::string& key) {
  const Labels labels = ComputeLabels(input).labels;
  const auto found = labels.find("nvidia.com/" + key);
  return found == labels.end() ? "(absent)" : found->second;
}

TEST(Labels, TakeTheDriverVersionApart) {  // spec/feature-discovery.md, vectors 1 and 2
  LabelInput input = MockModel(1);
  input.snapshot.driver_version = "550.107.02";
  EXPECT_EQ(Value(input, "cuda.driver-version.full"), "550.107.02");
  EXPECT_EQ(Value(input, "cuda.driver-version.major"), "550");
  EXPECT_EQ(Value(input, "cuda.driver-version.minor"), "107");
  EXPECT_EQ(Value(input, "cuda.driver-version.revision"), "02");
  EXPECT_EQ(Value(input, "cuda.driver.major"), "550");
  EXPECT_EQ(Value(input, "cuda.driver.minor"), "107");
  EXPECT_EQ(Value(input, "cuda.driver.rev"), "02");
  input.snapshot.driver_version = "400.300";
  EXPECT_EQ(Value(input, "cuda.driver-version.minor"), "300");
  EXPECT_EQ(Value(input, "cuda.driver-version.revision"), "");
}

TEST(Labels, LeaveOutADriverVersionOfAnotherShapeAndSaySo) {  // vector 3
  for (const char* version : {"1", "1.2.3.4"}) {
    LabelInput input = MockModel(1);
    input.snapshot.driver_version = version;
    const ComputedLabels computed = ComputeLabels(input);
    EXPECT_FALSE(computed.labels.contains("nvidia.com/cuda.driver-version.full"));
    EXPECT_TRUE(computed.labels.contains("nvidia.com/gpu.product"));  // the others stay
    EXPECT_EQ(computed.problems.size(), 1U);
  }
}

TEST(Labels, TakeTheCudaVersionApart) {  // vector 4
  LabelInput input = MockModel(1);
  input.snapshot.cuda_version = 12080;
  EXPECT_EQ(Value(input, "cuda.runtime-version.full"), "12.8");
  EXPECT_EQ(Value(input, "cuda.runtime-version.major"), "12");
  EXPECT_EQ(Value(input, "cuda.runtime.minor"), "8");
  input.snapshot.cuda_version = 11040;
  EXPECT_EQ(Value(input, "cuda.runtime-version.full"), "11.4");
}

struct Sanitizing {
  const char* text;
  const char* value;
};
TEST(SanitizeLabelValue, KeepsWhatALabelMayHold) {  // vectors 5 to 8, and ours of 9
  const Sanitizing cases[] = {
      {"NVIDIA-TITAN-X-(Pascal)", "NVIDIA-TITAN-X-Pascal"},
      {" input  with multiple   spaces   ", "input-with-multiple-spaces"},
      {"some ( thing )else", "some-thing-else"},
      {"some / thing /else", "some-thing-else"},
      {"some [ / thing / ]else", "some-thing-else"},
      {"some(thing)else", "somethingelse"},
      {"some-thing.else_new", "some-thing.else_new"},
      {"To Be Filled By O.E.M.\n", "To-Be-Filled-By-O.E.M"},
      {"", ""},
      {"...", ""},
  };
  for (const Sanitizing& one : cases) EXPECT_EQ(SanitizeLabelValue(one.text), one.value);
}

TEST(SanitizeLabelValue, CutsToWhatFits) {  // vector 48
  EXPECT_EQ(SanitizeLabelValue("NVIDIA RTX PRO 6000 Blackwell Server Edition-MIG-2g.48gb.me.all"),
            "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition-MIG-2g.48gb.me.all");
  EXPECT_EQ(
      SanitizeLabelValue("NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition-MIG-1g.24gb"),
      "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition-MIG-1g");
}

TEST(Labels, NameTheMachineOrSayThatItIsUnknown) {  // vectors 9 and 10
  LabelInput input = MockModel(1);
  EXPECT_EQ(Value(input, "gpu.machine"), "unknown");
  input.machine_type = "To Be Filled By O.E.M.\n";
  EXPECT_EQ(Value(input, "gpu.machine"), "To-Be-Filled-By-O.E.M");
  input.machine_type = "\n";
  EXPECT_EQ(Value(input, "gpu.machine"), "");
}

struct ResourceCase {
  const char* what;
  LabelInput input;
  const char* product;
  const char* count;
  const char* replicas;
  const char* strategy;
};
TEST(Labels, TellOfTheGpusAsAResource) {
  LabelInput shared = MockModel(2);
  Share(shared, SharingStrategy::kTimeSlicing, 2, false);
  LabelInput renamed = MockModel(1);
  Share(renamed, SharingStrategy::kMps, 2, true);
  LabelInput other = MockModel(1);
  Share(other, SharingStrategy::kTimeSlicing, 2, false, "nvidia.com/not-gpu");
  LabelInput mig = MockModel(1);
  Share(mig, SharingStrategy::kTimeSlicing, 2, false);
  mig.snapshot.gpus[0].mig_enabled = true;
  LabelInput half_mig = MockModel(2);
  Share(half_mig, SharingStrategy::kTimeSlicing, 2, false);
  half_mig.snapshot.gpus[0].mig_enabled = true;
  const ResourceCase cases[] = {
      {"vector 11", MockModel(1), "MOCKMODEL", "1", "1", "none"},
      {"vector 12", shared, "MOCKMODEL-SHARED", "2", "2", "time-slicing"},
      {"vector 13", renamed, "MOCKMODEL", "1", "2", "mps"},
      {"vector 14", other, "MOCKMODEL", "1", "1", "none"},
      {"vector 15", mig, "MOCKMODEL", "1", "0", "none"},
      {"vector 16", half_mig, "MOCKMODEL-SHARED", "2", "2", "time-slicing"},
  };
  for (const ResourceCase& one : cases) {
    EXPECT_EQ(Value(one.input, "gpu.product"), one.product) << one.what;
    EXPECT_EQ(Value(one.input, "gpu.count"), one.count) << one.what;
    EXPECT_EQ(Value(one.input, "gpu.replicas"), one.replicas) << one.what;
    EXPECT_EQ(Value(one.input, "gpu.sharing-strategy"), one.strategy) << one.what;
    EXPECT_EQ(Value(one.input, "gpu.memory"), "300") << one.what;
    EXPECT_EQ(Value(one.input, "gpu.family"), "ampere") << one.what;
    EXPECT_EQ(Value(one.input, "gpu.compute.major"), "8") << one.what;
    EXPECT_EQ(Value(one.input, "gpu.compute.minor"), "0") << one.what;
  }
}

TEST(Labels, NameTheMigStrategy) {  // vector 17
  LabelInput input = MockModel(1);
  EXPECT_EQ(Value(input, "mig.strategy"), "(absent)");
  input.mig_strategy = MigStrategy::kSingle;
  EXPECT_EQ(Value(input, "mig.strategy"), "single");
  EXPECT_EQ(Value(input, "gpu.product"), "MOCKMODEL");
  EXPECT_EQ(Value(input, "gpu.replicas"), "1");
  input.mig_strategy = MigStrategy::kMixed;
  EXPECT_EQ(Value(input, "mig.strategy"), "mixed");
}

TEST(Labels, SayThatASingleStrategyCannotBeKept) {  // vector 19: MIG mode without MIG devices
  LabelInput input = MockModel(2);
  input.mig_strategy = MigStrategy::kSingle;
  input.snapshot.gpus[1].mig_enabled = true;
  EXPECT_EQ(Value(input, "gpu.product"), "MOCKMODEL-MIG-INVALID");
  EXPECT_EQ(Value(input, "gpu.count"), "0");
  EXPECT_EQ(Value(input, "gpu.replicas"), "0");
  EXPECT_EQ(Value(input, "gpu.sharing-strategy"), "");
  EXPECT_EQ(Value(input, "gpu.memory"), "0");
  EXPECT_EQ(Value(input, "gpu.family"), "ampere");
  EXPECT_EQ(Value(input, "mig.strategy"), "single");
}

struct FamilyCase {
  int major;
  int minor;
  const char* family;
};
TEST(GpuFamily, FollowsTheComputeCapability) {  // vector 27
  const FamilyCase cases[] = {
      {8, 9, "ada-lovelace"}, {7, 0, "volta"},      {7, 5, "turing"},  {9, 0, "hopper"},
      {12, 0, "blackwell"},   {10, 3, "blackwell"}, {13, 0, "rubin"},  {11, 0, "undefined"},
      {8, 0, "ampere"},       {6, 1, "pascal"},     {5, 2, "maxwell"}, {3, 5, "kepler"},
  };
  for (const FamilyCase& one : cases) EXPECT_EQ(GpuFamily(one.major, one.minor), one.family);
}

TEST(Labels, LeaveOutAnUnknownComputeCapability) {
  const LabelInput input = Machine(1, "MOCKMODEL", 0, 0, 0);
  EXPECT_EQ(Value(input, "gpu.family"), "(absent)");
  EXPECT_EQ(Value(input, "gpu.compute.major"), "(absent)");
  EXPECT_EQ(Value(input, "gpu.memory"), "(absent)");
  EXPECT_EQ(Value(input, "gpu.count"), "1");
}

TEST(Labels, NameTheCliqueThatAllShare) {  // vectors 28 and 29
  LabelInput input = MockModel(2);
  EXPECT_EQ(Value(input, "gpu.clique"), "(absent)");
  Attach(input, "7b968a6d-c8aa-45e1-9e07-e1e51be99c31", 1);
  EXPECT_EQ(Value(input, "gpu.clique"), "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1");
  input.snapshot.gpus[1].fabric->attached = false;
  EXPECT_EQ(Value(input, "gpu.clique"), "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1");
  input.snapshot.gpus[1].fabric->attached = true;
  input.snapshot.gpus[1].fabric->clique_id = 2;
  EXPECT_EQ(Value(input, "gpu.clique"), "(absent)");
  EXPECT_EQ(ComputeLabels(input).problems.size(), 1U);
  for (gpu::Gpu& gpu : input.snapshot.gpus) gpu.fabric->attached = false;
  EXPECT_EQ(Value(input, "gpu.clique"), "(absent)");
}

TEST(Labels, SayWhetherMpsCanBeUsed) {  // vectors 30 and 47
  LabelInput input = MockModel(1);
  EXPECT_EQ(Value(input, "mps.capable"), "false");
  Share(input, SharingStrategy::kTimeSlicing, 2, false);
  EXPECT_EQ(Value(input, "mps.capable"), "false");
  input.sharing.strategy = SharingStrategy::kMps;
  EXPECT_EQ(Value(input, "mps.capable"), "true");
  input.snapshot.gpus[0].mig_enabled = true;
  EXPECT_EQ(Value(input, "mps.capable"), "(absent)");
  EXPECT_FALSE(ComputeLabels(input).problems.empty());

  LabelInput elsewhere = MockModel(1);
  Share(elsewhere, SharingStrategy::kMps, 2, false, "nvidia.com/mig-1g.5gb");
  EXPECT_EQ(Value(elsewhere, "mps.capable"), "true");
  EXPECT_EQ(Value(elsewhere, "gpu.replicas"), "1");
  EXPECT_EQ(Value(elsewhere, "gpu.sharing-strategy"), "none");
}

TEST(Labels, TellOfAVgpuAndItsHost) {  // vectors 31 and 32
  LabelInput input = MockModel(1);
  EXPECT_EQ(Value(input, "vgpu.present"), "false");
  EXPECT_EQ(Value(input, "vgpu.host-driver-version"), "(absent)");
  input.vgpu = std::optional(gpu::VgpuHost{.driver_version = "460.16", .driver_branch = "r460_00"});
  EXPECT_EQ(Value(input, "vgpu.present"), "true");
  EXPECT_EQ(Value(input, "vgpu.host-driver-version"), "460.16");
  EXPECT_EQ(Value(input, "vgpu.host-driver-branch"), "r460_00");
  input.vgpu.reset();  // could not look
  EXPECT_EQ(Value(input, "vgpu.present"), "(absent)");
}

TEST(Labels, OfANodeWithoutGpusAreFew) {
  LabelInput input;
  input.timestamp = 1700000000;
  input.vgpu.emplace();
  EXPECT_EQ(ComputeLabels(input).labels, (Labels{{"nvidia.com/gfd.timestamp", "1700000000"},
                                                 {"nvidia.com/vgpu.present", "false"}}));
}

TEST(Labels, OfAnH100Server) {  // vector 41
  LabelInput input = Machine(8, "NVIDIA H100 80GB HBM3", 85899345920, 9, 0);
  for (gpu::Gpu& gpu : input.snapshot.gpus) gpu.mig_enabled = false;
  Attach(input, "00000000-0000-0000-0000-000000000001", 0);
  input.timestamp = 1700000000;
  const ComputedLabels computed = ComputeLabels(input);
  EXPECT_TRUE(computed.problems.empty());
  const Labels expected = {
      {"nvidia.com/cuda.driver-version.full", "550.163.01"},
      {"nvidia.com/cuda.driver-version.major", "550"},
      {"nvidia.com/cuda.driver-version.minor", "163"},
      {"nvidia.com/cuda.driver-version.revision", "01"},
      {"nvidia.com/cuda.driver.major", "550"},
      {"nvidia.com/cuda.driver.minor", "163"},
      {"nvidia.com/cuda.driver.rev", "01"},
      {"nvidia.com/cuda.runtime-version.full", "12.4"},
      {"nvidia.com/cuda.runtime-version.major", "12"},
      {"nvidia.com/cuda.runtime-version.minor", "4"},
      {"nvidia.com/cuda.runtime.major", "12"},
      {"nvidia.com/cuda.runtime.minor", "4"},
      {"nvidia.com/gfd.timestamp", "1700000000"},
      {"nvidia.com/gpu.clique", "00000000-0000-0000-0000-000000000001.0"},
      {"nvidia.com/gpu.compute.major", "9"},
      {"nvidia.com/gpu.compute.minor", "0"},
      {"nvidia.com/gpu.count", "8"},
      {"nvidia.com/gpu.family", "hopper"},
      {"nvidia.com/gpu.machine", "unknown"},
      {"nvidia.com/gpu.memory", "81920"},
      {"nvidia.com/gpu.mode", "unknown"},
      {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
      {"nvidia.com/gpu.replicas", "1"},
      {"nvidia.com/gpu.sharing-strategy", "none"},
      {"nvidia.com/mig.capable", "true"},
      {"nvidia.com/mps.capable", "false"},
      {"nvidia.com/vgpu.present", "false"},
  };
  EXPECT_EQ(computed.labels, expected);
  EXPECT_EQ(computed.labels.size(), 27U);
}

struct ServerCase {
  LabelInput input;
  const char* product;
  const char* count;
  const char* memory;
  const char* family;
  size_t labels;
};
TEST(Labels, OfOtherServers) {  // vector 42
  LabelInput gb200 = Machine(8, "NVIDIA GB200", 206158430208, 10, 0);
  gb200.snapshot.driver_version = "580.65.06";
  gb200.snapshot.cuda_version = 13000;
  Attach(gb200, "00000000-0000-0000-0000-000000000001", 0);
  const ServerCase cases[] = {
      {Machine(4, "NVIDIA T4", 17179869184, 7, 5), "NVIDIA-T4", "4", "16384", "turing", 25},
      {Machine(8, "NVIDIA L40S", 51539607552, 8, 9), "NVIDIA-L40S", "8", "49152", "ada-lovelace",
       25},
      {gb200, "NVIDIA-GB200", "8", "196608", "blackwell", 26},
  };
  for (const ServerCase& one : cases) {
    EXPECT_EQ(Value(one.input, "gpu.product"), one.product);
    EXPECT_EQ(Value(one.input, "gpu.count"), one.count);
    EXPECT_EQ(Value(one.input, "gpu.memory"), one.memory);
    EXPECT_EQ(Value(one.input, "gpu.family"), one.family);
    EXPECT_EQ(ComputeLabels(one.input).labels.size(), one.labels);
  }
  EXPECT_EQ(Value(gb200, "cuda.runtime-version.full"), "13.0");
  EXPECT_EQ(Value(gb200, "cuda.driver-version.revision"), "06");
  EXPECT_EQ(Value(gb200, "gpu.clique"), "00000000-0000-0000-0000-000000000001.0");
}

TEST(Labels, TellOfTheModelThatCanBeGivenWhole) {  // vector 46
  LabelInput input = Machine(2, "NVIDIA A100-SXM4-40GB", 42949672960, 8, 0);
  for (gpu::Gpu& gpu : input.snapshot.gpus) gpu.mig_enabled = true;
  input.snapshot.gpus.push_back(Machine(1, "NVIDIA T4", 17179869184, 7, 5).snapshot.gpus[0]);
  EXPECT_EQ(Value(input, "gpu.product"), "NVIDIA-T4");
  EXPECT_EQ(Value(input, "gpu.count"), "1");
  EXPECT_EQ(Value(input, "gpu.replicas"), "1");
  input.mig_strategy = MigStrategy::kSingle;
  EXPECT_EQ(Value(input, "gpu.product"), "NVIDIA-A100-SXM4-40GB-MIG-INVALID");
  EXPECT_EQ(Value(input, "gpu.count"), "0");
  EXPECT_EQ(Value(input, "gpu.family"), "turing");
}

TEST(Labels, TellOfTheModelWithTheMostGpus) {
  LabelInput input = Machine(1, "NVIDIA T4", 17179869184, 7, 5);
  const LabelInput more = Machine(2, "NVIDIA L4", 24696061952, 8, 9);
  input.snapshot.gpus.insert(input.snapshot.gpus.end(), more.snapshot.gpus.begin(),
                             more.snapshot.gpus.end());
  EXPECT_EQ(Value(input, "gpu.product"), "NVIDIA-L4");
  input.snapshot.gpus.pop_back();  // a draw: the first GPU's model
  EXPECT_EQ(Value(input, "gpu.product"), "NVIDIA-T4");
  EXPECT_EQ(ComputeLabels(input).problems.size(), 1U);
}

TEST(LabelFile, IsSortedLines) { EXPECT_EQ(LabelFile({{"b", "2"}, {"a", ""}}), "a=\nb=2\n"); }

TEST(ParseMigStrategy, KnowsThreeWords) {
  EXPECT_EQ(ParseMigStrategy("single").value(), MigStrategy::kSingle);
  EXPECT_FALSE(ParseMigStrategy(""));
}

}  // namespace
}  // namespace pawl::agent
