// The whole agent on a loop, with a kubelet that speaks gRPC and real worker processes: this
// program is its own worker, with a stand-in for NVML that hangs and crashes on command.
#include "agent/agent.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "agent/cdi_stage.h"
#include "agent/toolkit.h"
#include "base/temporary_folder.h"
#include "cdi/generate/write_spec.h"
#include "gpu/fake_nvml_test.h"
#include "gpu/worker.h"
#include "node/fake_kubelet.h"

namespace pawl::agent {
namespace {

constexpr const char* kFirst = "GPU-00000000-0000-0000-0000-000000000000";
constexpr const char* kSecond = "GPU-00000000-0000-0000-0000-000000000001";
constexpr const char* kThird = "GPU-00000000-0000-0000-0000-000000000002";

int BeTheWorker(const std::string& folder) {
  gpu::FakeNvml& fake = gpu::FakeNvml::Get();
  fake = gpu::FakeNvml::FourT4();
  fake.folder = folder;
  return gpu::ServeNvml(
      gpu::kNvmlWorkerSocket,
      [](const std::vector<std::string>&) -> Result<gpu::Nvml> { return gpu::LoadFakeNvml(); });
}

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    for (const char* folder : {"kubelet/device-plugins", "cdi", "run", "nvml"}) {
      EXPECT_TRUE(MakeFolders(folder_.path() + "/" + folder));
    }
    EXPECT_EQ(mkfifo((folder_.path() + "/nvml/events").c_str(), 0600), 0);
    folder_.Write("host/proc/sys/kernel/random/boot_id", "boot-1\n");
    folder_.Write("host/sys/class/dmi/id/product_name", "PowerEdge R740\n");
    InstallDriver();
    options_.host_root = folder_.path() + "/host";
    options_.kubelet_dir = folder_.path() + "/kubelet";
    options_.cdi_dir = folder_.path() + "/cdi";
    options_.install_dir = folder_.path() + "/install";
    options_.run_dir = folder_.path() + "/run";
    options_.runtime_program = "/bin/true";
    options_.worker_command = {"/proc/self/exe", "nvml", folder_.path() + "/nvml"};
    options_.call_deadline = 1s;
    options_.init_deadline = 20s;
    options_.probe_interval = 30ms;
    options_.read_device_node = [this](const std::string& path) -> std::optional<cdi::NodeFacts> {
      const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
      if (!name.starts_with("nvidia") || name == missing_node_) return std::nullopt;
      return cdi::NodeFacts{195, 0, 0666, 0};
    };
  }

  ~AgentTest() override {
    if (agent_) agent_->Stop();
    loop_.restart();
    loop_.run_for(2s);
  }

  void InstallDriver() {
    for (const std::string name : {"libnvidia-ml", "libcuda"}) {
      const std::string library = "usr/lib/x86_64-linux-gnu/" + name + ".so";
      folder_.Write("host/" + library + ".550.107.02", "library");
      EXPECT_EQ(symlink((name + ".so.550.107.02").c_str(),
                        folder_.Path("host/" + library + ".1").c_str()),
                0);
    }
  }

  void StartKubelet() {
    kubelet_ = std::make_unique<node::FakeKubelet>(options_.kubelet_dir + "/device-plugins");
  }
  void StartAgent() {
    agent_ = std::make_unique<Agent>(loop_.get_executor(), options_);
    const Status started = agent_->Start();
    ASSERT_TRUE(started) << started.error().message();
  }
  // As a process that ends: nothing of it is left, whatever it was doing.
  void EndAgent() {
    agent_->Stop();
    loop_.restart();
    loop_.run_for(2s);
    agent_.reset();
  }

  bool Until(const std::function<bool()>& reached) { return node::RunUntil(loop_, reached, 30s); }
  bool UntilListed(size_t healthy, size_t all = 4) {
    return Until([this, healthy, all] {
      const auto lists = kubelet_->Lists();
      return !lists.empty() && lists.back().size() == all &&
             static_cast<size_t>(std::count_if(lists.back().begin(), lists.back().end(),
                                               [](const auto& d) { return d.healthy; })) == healthy;
    });
  }
  bool UntilValidated() {
    return Until([this] { return Stage("validated").state == StageState::kReady; });
  }
  bool IsListedHealthy(std::string_view id) {
    const auto lists = kubelet_->Lists();
    for (const node::PluginDevice& device : lists.back()) {
      if (device.id == id) return device.healthy;
    }
    return false;
  }
  StageStatus Stage(std::string_view name) {
    for (const StageStatus& stage : agent_->board().chain.stages) {
      if (stage.stage == name) return stage;
    }
    return {};
  }
  void Break(const std::string& fault) { folder_.Write("nvml/" + fault, ""); }
  std::string ReadRun(const std::string& name) {
    return ReadFile(options_.run_dir + "/" + name).value_or("(missing)");
  }

  TemporaryFolder folder_;
  std::string missing_node_;
  AgentOptions options_;
  asio::io_context loop_;
  std::unique_ptr<node::FakeKubelet> kubelet_;
  std::unique_ptr<Agent> agent_;
};

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

TEST_F(AgentTest, AToolkitThatDoesNotRunIsSaidAndTheGpusAreOfferedAllTheSame) {
  options_.runtime_program = "/bin/false";
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(Until([this] { return Stage("toolkit").state == StageState::kFailed; }));
  EXPECT_EQ(Stage("toolkit").reason, "ToolkitDoesNotRun");
  EXPECT_EQ(Stage("validated").state, StageState::kWaiting);
}

}  // namespace
}  // namespace pawl::agent

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "nvml") {
    _exit(pawl::agent::BeTheWorker(argv[2]));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
