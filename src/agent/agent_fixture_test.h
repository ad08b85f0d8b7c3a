// A node for tests of the whole agent: a host root with a driver, a kubelet, and worker processes
// that are the test program itself, with a stand-in for NVML that misbehaves on command.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/agent.h"
#include "base/temporary_folder.h"
#include "node/fake_kubelet.h"

namespace pawl::agent {

class AgentFixture : public testing::Test {
 protected:
  AgentFixture() {
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

  ~AgentFixture() override {
    if (agent_) EndAgent();
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
    loop_.run_for(300ms);
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
  void Mend(const std::string& fault) {
    EXPECT_TRUE(RemoveFile(folder_.path() + "/nvml/" + fault));
  }
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

}  // namespace pawl::agent
