// The whole agent on a loop, with a kubelet that speaks gRPC and real worker processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "agent/agent_fixture_test.h"
#include "agent/cdi_stage.h"
#include "agent/toolkit.h"
#include "base/run_task.h"
#include "base/subprocess.h"
#include "cdi/generate/write_spec.h"
#include "gpu/fake_nvml_test.h"
#include "gpu/worker.h"

namespace pawl::agent {
namespace {

constexpr const char* kFirst = "GPU-00000000-0000-0000-0000-000000000000";
constexpr const char* kSecond = "GPU-00000000-0000-0000-0000-000000000001";
constexpr const char* kThird = "GPU-00000000-0000-0000-0000-000000000002";

int BeTheWorker(const std::string& folder) {
  gpu::FakeNvml& fake = gpu::FakeNvml::Get();
  fake = gpu::FakeNvml::FourT4();
  fake.folder = folder;
  if (Exists(folder + "/mig")) {
    for (gpu::FakeGpu& gpu : fake.gpus) gpu.mig = true;
  }
  return gpu::ServeNvml(
      gpu::kNvmlWorkerSocket,
      [](const std::vector<std::string>&) -> Result<gpu::Nvml> { return gpu::LoadFakeNvml(); });
}

int BeAnAgent(const std::string& run_dir) {
  AgentOptions options;
  options.run_dir = run_dir;
  RunAgent(options, &_exit);
  return 1;
}

class AgentTest : public AgentFixture {};

TEST_F(AgentTest, OffersEveryGpuInTheFirstListAndAnswersWithItsCdiName) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  EXPECT_EQ(kubelet_->Lists().size(), 1U) << "the list must never grow";
  EXPECT_EQ(kubelet_->Registrations().front().resource, "nvidia.com/gpu");
  EXPECT_EQ(kubelet_->Registrations().front().endpoint, "nvidia-gpu.sock");

  const auto answer = kubelet_->Allocate({kSecond});
  ASSERT_TRUE(answer) << answer.error().message();
  const std::string name = std::string("k8s.device-plugin.nvidia.com/gpu=") + kSecond;
  EXPECT_EQ(answer->cdi_devices, std::vector<std::string>{name});
  ASSERT_EQ(answer->annotations.size(), 1U);
  EXPECT_TRUE(answer->annotations.begin()->first.starts_with("cdi.k8s.io/nvidia-device-plugin_"));
  EXPECT_EQ(answer->annotations.begin()->second, name);
  EXPECT_TRUE(answer->envs.empty());
}

TEST_F(AgentTest, PutsTheNamesThatItAnswersIntoTheCdiSpecificationFirst) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  const auto spec = cdi::ReadSpec(PluginCdiFile(options_.cdi_dir));
  ASSERT_TRUE(spec) << spec.error().message();
  EXPECT_EQ(spec->kind, "k8s.device-plugin.nvidia.com/gpu");
  ASSERT_EQ(spec->devices.size(), 4U);
  EXPECT_EQ(spec->devices[1].name, kSecond);
  ASSERT_FALSE(spec->edits.hooks.empty());
  EXPECT_EQ(spec->edits.hooks[0].path, ToolkitIn(options_.install_dir).hook_path);
}

TEST_F(AgentTest, PrefersGpusThatAreWellConnected) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  const auto chosen = kubelet_->Preferred({kSecond, kFirst, kThird}, {}, 2);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(*chosen, (std::vector<std::string>{kFirst, kSecond}));
}

TEST_F(AgentTest, WritesTheValidationFilesAndTheStateOfEachStage) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  ASSERT_TRUE(Until([this] {
    const auto state = ReadState(options_.run_dir);
    return state && state->chain.FirstUnready() == nullptr;
  }));
  EXPECT_TRUE(ReadRun("validations/driver-ready").starts_with("IS_HOST_DRIVER=true\n"));
  EXPECT_EQ(ReadRun("validations/toolkit-ready"), "");
  EXPECT_EQ(ReadRun("validations/plugin-ready"), "");
  EXPECT_EQ(ReadRun("validations/cuda-ready"), "(missing)");
  EXPECT_NE(ReadRun("pawl/labels").find("nvidia.com/gpu.machine=PowerEdge-R740\n"),
            std::string::npos);
  EXPECT_NE(ReadRun("pawl/labels").find("nvidia.com/gpu.count=4\n"), std::string::npos);
  const auto state = ReadState(options_.run_dir);
  EXPECT_TRUE(state->was_ready);
  EXPECT_EQ(state->boot_id, "boot-1");
  EXPECT_EQ(state->snapshot.gpus.size(), 4U);
}

TEST_F(AgentTest, AGpuThatHangsIsUnhealthyAndTheOthersStayAllocatable) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  Break("hang-nvmlDeviceGetMigMode-2");
  Break("hang-nvmlDeviceGetHandleByIndex_v2-2");
  Break("hang-nvmlDeviceGetMemoryInfo-2");
  ASSERT_TRUE(UntilListed(3));
  EXPECT_FALSE(IsListedHealthy(kThird));
  EXPECT_TRUE(kubelet_->Allocate({kFirst}));
}

TEST_F(AgentTest, CrashesOfTheLibraryTakeTheGpusAwayAndKubeletIsStillAnswered) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  Break("crash-nvmlInit_v2");
  agent_->Reload();
  ASSERT_TRUE(UntilListed(0));
  EXPECT_TRUE(kubelet_->Allocate({kFirst}));
  EXPECT_EQ(kubelet_->Registrations().size(), 1U);
}

TEST_F(AgentTest, NothingIsOfferedWhileInitHangsAndTheAgentEndsAtOnce) {
  StartKubelet();
  Break("hang-nvmlInit_v2");
  StartAgent();
  ASSERT_TRUE(Until([this] { return agent_->worker_pid() != 0; }));
  EXPECT_TRUE(kubelet_->Registrations().empty());
  EXPECT_EQ(Stage("driver").reason, "DriverStarting");
  const Time before = std::chrono::steady_clock::now();
  agent_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);
}

TEST_F(AgentTest, AnAgentThatStartsAgainWhileInitHangsShowsTheGpusThatItKnewAsUnhealthy) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EndAgent();
  Break("hang-nvmlInit_v2");
  options_.init_deadline = 300ms;
  StartAgent();
  ASSERT_TRUE(UntilListed(0));
  EXPECT_TRUE(kubelet_->Allocate({kFirst}));
  EXPECT_EQ(Stage("driver").reason, "NvmlHung");
}

TEST_F(AgentTest, WhileInitHangsKubeletHasItsListAndTheGpusComeBackWithIt) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EndAgent();
  const size_t before = kubelet_->Registrations().size();
  Break("hang-nvmlInit_v2");
  options_.driver_patience = 100ms;
  StartAgent();
  ASSERT_TRUE(UntilListed(0));
  EXPECT_EQ(kubelet_->Registrations().size(), before + 1);
  EXPECT_EQ(Stage("driver").reason, "DriverStarting");
  EXPECT_NE(Stage("driver").evidence.find("nvmlInit_v2"), std::string::npos);
  EXPECT_EQ(ReadRun("validations/driver-ready"), "(missing)");
  Mend("hang-nvmlInit_v2");
  agent_->Reload();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(UntilValidated());
}

TEST_F(AgentTest, AgentsThatEndBeforeNvmlAnsweredForgetNothing) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EndAgent();
  Break("hang-nvmlInit_v2");
  for (int i = 0; i < 2; ++i) {
    StartAgent();
    ASSERT_TRUE(Until([this] {
      const auto state = ReadState(options_.run_dir);
      return state && !state->chain.stages.empty() &&
             state->chain.stages.front().reason == "DriverStarting";
    }));
    EXPECT_EQ(ReadState(options_.run_dir)->snapshot.gpus.size(), 4U);
    EndAgent();
  }
}

TEST_F(AgentTest, AStartThatGoesWellNeverCallsAGpuUnhealthy) {
  options_.driver_patience = 20s;  // whatever else this machine is doing
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EndAgent();
  const size_t before = kubelet_->Lists().size();
  StartAgent();
  ASSERT_TRUE(Until([this, before] { return kubelet_->Lists().size() > before; }));
  ASSERT_TRUE(UntilValidated());
  const auto lists = kubelet_->Lists();
  for (size_t i = before; i < lists.size(); ++i) {
    for (const node::PluginDevice& device : lists[i]) EXPECT_TRUE(device.healthy) << device.id;
  }
}

TEST_F(AgentTest, WhatWasKnownBeforeARebootIsForgotten) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EndAgent();
  const size_t before = kubelet_->Registrations().size();
  folder_.Write("host/proc/sys/kernel/random/boot_id", "boot-2\n");
  Break("hang-nvmlInit_v2");
  options_.init_deadline = 100ms;
  StartAgent();
  ASSERT_TRUE(Until([this] { return Stage("driver").reason == "NvmlHung"; }));
  EXPECT_EQ(kubelet_->Registrations().size(), before);
}

TEST_F(AgentTest, AGpuWithoutItsDeviceNodeIsListedButUnhealthy) {
  missing_node_ = "nvidia3";  // of the first GPU: minors are not in the order of indexes
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(3));
  EXPECT_FALSE(IsListedHealthy(kFirst));
}

TEST_F(AgentTest, GpusThatAllGoIntoMigModeAreNoLongerHandedOut) {
  options_.mig_strategy = MigStrategy::kMixed;
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  Break("mig");
  agent_->Reload();
  ASSERT_TRUE(UntilListed(0, 0));
  ASSERT_TRUE(Until([this] { return Stage("plugin").reason == "NoDevice"; }));
  EXPECT_EQ(ReadRun("validations/plugin-ready"), "(missing)");
  Mend("mig");
  agent_->Reload();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(UntilValidated());
}

TEST_F(AgentTest, IsThereAgainAfterKubeletRestarted) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  kubelet_.reset();
  ASSERT_TRUE(Until([this] { return Stage("plugin").state == StageState::kWaiting; }));
  EXPECT_EQ(ReadRun("validations/plugin-ready"), "(missing)");
  StartKubelet();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(UntilValidated());
}

TEST_F(AgentTest, EndingTakesAwayWhatSaysThatItServes) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EXPECT_TRUE(AgentIsAlive(options_.run_dir));
  EndAgent();
  EXPECT_FALSE(AgentIsAlive(options_.run_dir));
  EXPECT_EQ(ReadRun("validations/plugin-ready"), "(missing)");
  EXPECT_FALSE(Exists(options_.kubelet_dir + "/device-plugins/nvidia-gpu.sock"));
  // The driver and the hooks go on working without us.
  EXPECT_NE(ReadRun("validations/driver-ready"), "(missing)");
}

TEST_F(AgentTest, ASecondAgentOnTheNodeDoesNotStart) {
  StartAgent();
  Agent second(loop_.get_executor(), options_);
  const Status refused = second.Start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnavailable);
}

TEST_F(AgentTest, AnAgentThatWaitsForAnotherEndsWhenItIsTold) {
  StartAgent();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor log(ends[0]);
  FileDescriptor its_log(ends[1]);
  Command command;
  command.arguments = {"/proc/self/exe", "agent", options_.run_dir};
  command.descriptors = {{its_log.get(), STDERR_FILENO}};
  Result<Child> child = Child::Start(loop_.get_executor(), command);
  ASSERT_TRUE(child) << child.error().message();
  its_log.Close();
  std::string said;
  std::string buffer(4096, '\0');
  while (said.find("waiting for the other agent") == std::string::npos) {
    const ssize_t count = read(log.get(), buffer.data(), buffer.size());
    ASSERT_GT(count, 0) << said;
    said.append(buffer, 0, static_cast<size_t>(count));
  }
  const Time before = std::chrono::steady_clock::now();
  child->Kill(SIGTERM);
  Task<ExitStatus> wait = child->Wait();
  EXPECT_TRUE(RunTask(loop_, std::move(wait)).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

TEST_F(AgentTest, NoGpuIsOfferedBeforeTheHooksRunOnTheHost) {
  options_.runtime_program = "/bin/false";
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(Until([this] { return Stage("toolkit").state == StageState::kFailed; }));
  EXPECT_EQ(Stage("toolkit").reason, "ToolkitDoesNotRun");
  ASSERT_TRUE(Until([this] { return Stage("driver").state == StageState::kReady; }));
  ASSERT_TRUE(Until([this] { return Stage("cdi").reason == "ToolkitNotReady"; }));
  EXPECT_EQ(Stage("plugin").reason, "NoDevice");
  EXPECT_TRUE(kubelet_->Registrations().empty());
  EXPECT_EQ(Stage("validated").state, StageState::kWaiting);
}

TEST_F(AgentTest, WithoutTheToolkitNothingWaitsForIt) {
  options_.toolkit_enabled = false;
  options_.runtime_program = "/bin/false";
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(UntilValidated());
}

}  // namespace
}  // namespace pawl::agent

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "nvml") {
    _exit(pawl::agent::BeTheWorker(argv[2]));
  }
  if (argc == 3 && std::string_view(argv[1]) == "agent") {
    return pawl::agent::BeAnAgent(argv[2]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
