#include "node/registered_plugin.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "node/fake_kubelet.h"

namespace pawl::node {
namespace {

std::shared_ptr<const PluginState> StateOf(std::vector<PluginDevice> devices) {
  auto state = std::make_shared<PluginState>();
  state->devices = std::move(devices);
  state->allocate = [](const std::vector<std::string>&) -> Result<AllocateAnswer> {
    return AllocateAnswer{};
  };
  state->prefer = [](const PreferredQuestion&) { return std::vector<std::string>{}; };
  return state;
}

class RegisteredPluginTest : public testing::Test {
 protected:
  ~RegisteredPluginTest() override {
    if (plugin_) plugin_->Stop();
    loop_.restart();
    loop_.run_for(1s);
  }

  void Offer(Duration poll = 60s) {
    RegisteredPluginOptions options;
    options.folder = folder_.path();
    options.endpoint = "example-widget.sock";
    options.resource = "example.com/widget";
    options.poll = poll;
    options.first_backoff = 10ms;
    options.last_backoff = 50ms;
    plugin_ = std::make_unique<RegisteredPlugin>(loop_.get_executor(), options);
    plugin_->Publish(StateOf({{"a", true, {}}, {"b", true, {}}}));
    Spawn(loop_.get_executor(), "plugin", plugin_->Run());
  }

  bool UntilRegistered(uint64_t times) {
    return RunUntil(
        loop_, [&] { return plugin_->registered() && plugin_->registrations() == times; }, 5s);
  }

  TemporaryFolder folder_;
  std::string socket_ = folder_.path() + "/example-widget.sock";
  asio::io_context loop_;
  std::unique_ptr<RegisteredPlugin> plugin_;
};

TEST_F(RegisteredPluginTest, RegistersOnceKubeletIsThere) {
  Offer();
  ASSERT_TRUE(
      RunUntil(loop_, [&] { return plugin_->trouble().find("not there") != std::string::npos; }));
  const FakeKubelet kubelet(folder_.path());
  // The kubelet deleted our socket when it started; that is repaired too.
  ASSERT_TRUE(RunUntil(loop_, [&] { return plugin_->registered() && !kubelet.Lists().empty(); }));
  EXPECT_EQ(kubelet.Lists().front().size(), 2U);
  EXPECT_TRUE(plugin_->trouble().empty());
}

TEST_F(RegisteredPluginTest, RegistersAgainWhenKubeletRestarts) {
  auto kubelet = std::make_unique<FakeKubelet>(folder_.path());
  Offer();
  ASSERT_TRUE(UntilRegistered(1));
  kubelet.reset();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !plugin_->registered(); }));
  kubelet = std::make_unique<FakeKubelet>(folder_.path());
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet->Registrations().size() >= 1; }));
  ASSERT_TRUE(RunUntil(loop_, [&] { return plugin_->registered() && !kubelet->Lists().empty(); }));
  EXPECT_EQ(kubelet->Lists().front().size(), 2U);
}

TEST_F(RegisteredPluginTest, ServesAndRegistersAgainWhenItsSocketIsDeleted) {
  const FakeKubelet kubelet(folder_.path());
  Offer();
  ASSERT_TRUE(UntilRegistered(1));
  ASSERT_EQ(unlink(socket_.c_str()), 0);
  ASSERT_TRUE(UntilRegistered(2));
  EXPECT_TRUE(Exists(socket_));
  EXPECT_EQ(kubelet.Registrations().size(), 2U);
}

TEST_F(RegisteredPluginTest, TriesAgainAfterKubeletRefused) {
  FakeKubelet kubelet(folder_.path());
  kubelet.Refuse(true);
  Offer();
  ASSERT_TRUE(RunUntil(
      loop_, [&] { return plugin_->trouble().find("refused by the test") != std::string::npos; }));
  EXPECT_FALSE(plugin_->registered());
  kubelet.Refuse(false);
  EXPECT_TRUE(UntilRegistered(1));
}

TEST_F(RegisteredPluginTest, APollNoticesAKubeletThatStoppedFollowing) {
  // This kubelet forgets its plugins but keeps the socket file, so no change of the folder tells.
  auto kubelet = std::make_unique<FakeKubelet>(folder_.path());
  Offer(100ms);
  ASSERT_TRUE(UntilRegistered(1));
  ASSERT_TRUE(RunUntil(loop_, [&] { return !kubelet->Lists().empty(); }));
  kubelet->DropStreams();
  EXPECT_TRUE(RunUntil(loop_, [&] { return kubelet->Registrations().size() == 2; }));
}

TEST_F(RegisteredPluginTest, PublishesChangesToTheOpenStream) {
  const FakeKubelet kubelet(folder_.path());
  Offer();
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet.Lists().size() == 1; }));
  plugin_->Publish(StateOf({{"a", true, {}}, {"b", false, {}}}));
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet.Lists().size() == 2; }));
  EXPECT_FALSE(kubelet.Lists().back()[1].healthy);
}

TEST_F(RegisteredPluginTest, WaitsForTheFolderOfAKubeletThatIsNotInstalledYet) {
  RegisteredPluginOptions options;
  options.folder = folder_.path() + "/later";
  options.endpoint = "example-widget.sock";
  options.resource = "example.com/widget";
  options.first_backoff = 10ms;
  options.last_backoff = 50ms;
  plugin_ = std::make_unique<RegisteredPlugin>(loop_.get_executor(), options);
  plugin_->Publish(StateOf({{"a", true, {}}}));
  Spawn(loop_.get_executor(), "plugin", plugin_->Run());
  ASSERT_TRUE(RunUntil(loop_, [&] { return plugin_->trouble() != "not begun"; }));
  ASSERT_TRUE(MakeFolders(options.folder));
  const FakeKubelet kubelet(options.folder);
  EXPECT_TRUE(RunUntil(loop_, [&] { return plugin_->registered(); }));
}

TEST_F(RegisteredPluginTest, StopRemovesTheSocketAndEndsRun) {
  const FakeKubelet kubelet(folder_.path());
  Offer();
  ASSERT_TRUE(UntilRegistered(1));
  plugin_->Stop();
  EXPECT_FALSE(Exists(socket_));
  loop_.restart();
  const Time before = std::chrono::steady_clock::now();
  loop_.run_for(5s);  // returns as soon as nothing is left to do
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

}  // namespace
}  // namespace pawl::node
