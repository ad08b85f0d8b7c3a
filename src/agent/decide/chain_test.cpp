#include "agent/decide/chain.h"

#include <gtest/gtest.h>

namespace pawl::agent {
namespace {

Chain Ready() {
  Chain chain;
  for (const char* stage : {"driver", "toolkit", "plugin", "discovery", "validated"}) {
    chain.At(stage).state = StageState::kReady;
  }
  return chain;
}

gpu::Snapshot Gpus(size_t count) {
  gpu::Snapshot snapshot;
  for (size_t i = 0; i < count; ++i) {
    gpu::Gpu gpu;
    gpu.uuid = "GPU-" + std::to_string(i);
    gpu.pci.bus = static_cast<uint32_t>(i + 1);
    snapshot.gpus.push_back(gpu);
  }
  return snapshot;
}

TEST(GpuReady, IsTrueWhenAllIsWell) {
  const NodeCondition condition = GpuReady(Ready(), Gpus(4), false);
  EXPECT_EQ(condition,
            (NodeCondition{
                .status = "True", .reason = "AllHealthy", .message = "4 of 4 GPUs can be used"}));
}

TEST(GpuReady, IsTrueAndDegradedWhileOneGpuCanBeUsed) {
  gpu::Snapshot snapshot = Gpus(2);
  snapshot.gpus[1].problem = "NvmlHung: nvmlDeviceGetName did not answer within 2 s";
  const NodeCondition condition = GpuReady(Ready(), snapshot, false);
  EXPECT_EQ(condition.status, "True");
  EXPECT_EQ(condition.reason, "Degraded");
  EXPECT_EQ(condition.message,
            "1 of 2 GPUs can be used; GPU-1 (0000:02:00.0): NvmlHung: nvmlDeviceGetName did not "
            "answer within 2 s");
}

TEST(GpuReady, CountsAGpuThatNeverAnswered) {
  gpu::Snapshot snapshot = Gpus(1);
  snapshot.silent = {{.index = 1, .problem = "GpuLost: …"}};
  const NodeCondition condition = GpuReady(Ready(), snapshot, false);
  EXPECT_EQ(condition.reason, "Degraded");
  EXPECT_EQ(condition.message, "1 of 2 GPUs can be used; GPU 1 (never answered): GpuLost: …");
}

TEST(GpuReady, IsFalseWithTheReasonThatAllGpusShare) {
  gpu::Snapshot snapshot = Gpus(2);
  for (gpu::Gpu& gpu : snapshot.gpus) gpu.problem = "NvmlHung: nvmlInit_v2 did not answer";
  EXPECT_EQ(GpuReady(Ready(), snapshot, false).status, "False");
  EXPECT_EQ(GpuReady(Ready(), snapshot, false).reason, "NvmlHung");
  snapshot.gpus[0].problem = "GpuLost: …";
  EXPECT_EQ(GpuReady(Ready(), snapshot, false).reason, "NoUsableGPU");
  snapshot.gpus[1].problem = snapshot.gpus[0].problem = "words without a reason";
  EXPECT_EQ(GpuReady(Ready(), snapshot, false).reason, "NoUsableGPU");
  EXPECT_EQ(GpuReady(Ready(), gpu::Snapshot{}, false).reason, "NoUsableGPU");
}

TEST(GpuReady, NamesTheFirstStageThatIsNotReady) {
  Chain chain = Ready();
  chain.At("toolkit") = {.stage = "toolkit",
                         .state = StageState::kFailed,
                         .reason = "RuntimeNotConfigured",
                         .evidence = "containerd has no CDI"};
  chain.At("plugin").state = StageState::kWaiting;
  const NodeCondition condition = GpuReady(chain, Gpus(4), false);
  EXPECT_EQ(
      condition,
      (NodeCondition{.status = "False",
                     .reason = "RuntimeNotConfigured",
                     .message = "toolkit failed: RuntimeNotConfigured: containerd has no CDI"}));
}

TEST(GpuReady, IsUnknownWhileBootingUnlessSomethingFailed) {
  Chain chain = Ready();
  chain.At("driver") = {.stage = "driver",
                        .state = StageState::kWaiting,
                        .reason = "DriverNotFound",
                        .evidence = "no libnvidia-ml.so.1"};
  EXPECT_EQ(GpuReady(chain, {}, true),
            (NodeCondition{.status = "Unknown",
                           .reason = "Booting",
                           .message = "driver waiting: DriverNotFound: no libnvidia-ml.so.1"}));
  EXPECT_EQ(GpuReady(chain, {}, false).status, "False");
  EXPECT_EQ(GpuReady(chain, {}, false).reason, "DriverNotFound");
  chain.At("driver").state = StageState::kFailed;
  EXPECT_EQ(GpuReady(chain, {}, true).status, "False");
}

TEST(ChainTable, ShowsEachStageAndEachTrouble) {
  Chain chain;
  chain.At("driver").state = StageState::kReady;
  chain.At("driver").evidence = "550.107.02, 2 GPUs";
  chain.At("toolkit") = {.stage = "toolkit",
                         .state = StageState::kWaiting,
                         .reason = "DriverRootMissing",
                         .evidence = ""};
  gpu::Snapshot snapshot = Gpus(1);
  snapshot.gpus[0].problem = "GpuLost: …";
  EXPECT_EQ(ChainTable(chain, snapshot),
            "STAGE    STATE    REASON             EVIDENCE\n"
            "driver   Ready    -                  550.107.02, 2 GPUs\n"
            "toolkit  Waiting  DriverRootMissing\n"
            "! GPU-0 (0000:01:00.0): GpuLost: …\n");
}

TEST(Chain, SurvivesJson) {
  Chain chain = Ready();
  chain.At("plugin") = {
      .stage = "plugin", .state = StageState::kFailed, .reason = "KubeletRefused", .evidence = "…"};
  EXPECT_EQ(ChainFromJson(ToJsonValue(chain)).value(), chain);
  EXPECT_EQ(ChainFromJson(ParseJson(R"([{"stage":"x","state":"Fine"}])").value()).error().message(),
            "chain[0].state: expected Waiting, Ready or Failed");
  EXPECT_FALSE(ChainFromJson(json::value("x")));
}

}  // namespace
}  // namespace pawl::agent
