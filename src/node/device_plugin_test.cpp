#include "node/device_plugin.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/files.h"
#include "base/run_task.h"
#include "base/temporary_folder.h"
#include "node/fake_kubelet.h"

namespace pawl::node {
namespace {

std::shared_ptr<const PluginState> StateOf(std::vector<PluginDevice> devices) {
  auto state = std::make_shared<PluginState>();
  state->devices = std::move(devices);
  state->allocate = [](const std::vector<std::string>& ids) -> Result<AllocateAnswer> {
    AllocateAnswer answer;
    for (const std::string& id : ids) {
      if (id == "unknown") return Fail(ErrorKind::kNotFound, "there is no device unknown");
      answer.cdi_devices.push_back("example.com/widget=" + id);
    }
    answer.envs["WIDGETS"] = std::to_string(ids.size());
    answer.annotations["cdi.k8s.io/widgets"] = "one";
    answer.mounts.push_back({"/in", "/out", true});
    answer.devices.push_back({"/dev/widget0", "/dev/widget0", "rw"});
    return answer;
  };
  state->prefer = [](const PreferredQuestion& question) {
    return std::vector<std::string>(question.available.begin(),
                                    question.available.begin() + question.size);
  };
  return state;
}

class DevicePlugin : public testing::Test {
 protected:
  void Serve(std::vector<PluginDevice> devices) {
    auto started = DevicePluginServer::Start(loop_.get_executor(), socket_, StateOf(devices));
    ASSERT_TRUE(started) << started.error().message();
    server_ = *std::move(started);
  }

  Status Register(const std::string& kubelet_socket) {
    return RunTask(loop_, server_->Register(kubelet_socket, "example.com/widget", 5s));
  }

  std::string Path(const std::string& name) { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
  std::string socket_ = folder_.path() + "/example-widget.sock";
  asio::io_context loop_;
  std::unique_ptr<DevicePluginServer> server_;
};

TEST_F(DevicePlugin, RegistersItsEndpointAndSendsTheWholeListAtOnce) {
  FakeKubelet kubelet(folder_.path());
  const std::vector<PluginDevice> devices = {{"a", true, 1}, {"b", false, {}}, {"c", true, {}}};
  Serve(devices);
  const Status registered = Register(kubelet.SocketPath());
  ASSERT_TRUE(registered) << registered.error().message();

  ASSERT_EQ(kubelet.Registrations().size(), 1U);
  const FakeKubelet::Registration registration = kubelet.Registrations().front();
  EXPECT_EQ(registration.version, "v1beta1");
  EXPECT_EQ(registration.endpoint, "example-widget.sock");
  EXPECT_EQ(registration.resource, "example.com/widget");
  EXPECT_TRUE(registration.preferred_allocation);
  EXPECT_TRUE(registration.preferred_allocation_when_asked);
  ASSERT_TRUE(RunUntil(loop_, [&] { return !kubelet.Lists().empty(); }));
  EXPECT_EQ(kubelet.Lists().front(), devices);
}

TEST_F(DevicePlugin, SendsTheWholeListAgainWhenADeviceTurnsUnhealthyAndOnlyThen) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}, {"b", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet.Lists().size() == 1; }));

  server_->Publish(StateOf({{"a", true, {}}, {"b", true, {}}}));
  server_->Publish(StateOf({{"a", false, {}}, {"b", true, {}}}));
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet.Lists().size() == 2; }));
  const std::vector<PluginDevice> expected = {{"a", false, {}}, {"b", true, {}}};
  EXPECT_EQ(kubelet.Lists().back(), expected);
}

TEST_F(DevicePlugin, AnswersAllocateWithEverythingOfTheAnswer) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  const Result<AllocateAnswer> answer = kubelet.Allocate({"a", "b"});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->cdi_devices,
            (std::vector<std::string>{"example.com/widget=a", "example.com/widget=b"}));
  EXPECT_EQ(answer->envs.at("WIDGETS"), "2");
  EXPECT_EQ(answer->annotations.at("cdi.k8s.io/widgets"), "one");
  ASSERT_EQ(answer->mounts.size(), 1U);
  EXPECT_EQ(answer->mounts[0].host_path, "/out");
  EXPECT_TRUE(answer->mounts[0].read_only);
  ASSERT_EQ(answer->devices.size(), 1U);
  EXPECT_EQ(answer->devices[0].permissions, "rw");
}

TEST_F(DevicePlugin, RefusesAnUnknownDeviceWithTheReason) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  const Result<AllocateAnswer> answer = kubelet.Allocate({"unknown"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message(), "2: there is no device unknown");
}

TEST_F(DevicePlugin, AnswersPreferredAllocationAndPreStart) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  const auto preferred = kubelet.Preferred({"a", "b", "c"}, {}, 2);
  ASSERT_TRUE(preferred) << preferred.error().message();
  EXPECT_EQ(*preferred, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(kubelet.PreStart({"a"}));
}

TEST_F(DevicePlugin, AnswersWhileTheLoopStandsStill) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  // Nothing runs the loop from here on.
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(kubelet.Allocate({"a"}));
}

TEST_F(DevicePlugin, TellsWhyKubeletRefused) {
  FakeKubelet kubelet(folder_.path());
  kubelet.Refuse(true);
  Serve({{"a", true, {}}});
  const Status refused = Register(kubelet.SocketPath());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "registering example.com/widget with kubelet: refused by the test");
}

TEST_F(DevicePlugin, RegistrationWithoutKubeletFailsAtOnce) {
  Serve({{"a", true, {}}});
  const Status missing = Register(Path("kubelet.sock"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
}

// A kubelet that accepts and says nothing.
class SilentSocket {
 public:
  explicit SilentSocket(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(socket_.get(), 4), 0);
  }

 private:
  FileDescriptor socket_;
};

TEST_F(DevicePlugin, RegistrationEndsAtItsDeadline) {
  const SilentSocket kubelet(Path("kubelet.sock"));
  Serve({{"a", true, {}}});
  const Status late =
      RunTask(loop_, server_->Register(Path("kubelet.sock"), "example.com/widget", 200ms));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::kDeadlineExceeded);
}

Task<> RegisterInto(DevicePluginServer& server, std::string socket, std::optional<Status>& result) {
  result = co_await server.Register(std::move(socket), "example.com/widget", 60s);
}

TEST_F(DevicePlugin, StoppingEndsAPendingRegistration) {
  const SilentSocket kubelet(Path("kubelet.sock"));
  Serve({{"a", true, {}}});
  std::optional<Status> result;
  Spawn(loop_.get_executor(), "register", RegisterInto(*server_, Path("kubelet.sock"), result));
  loop_.poll();
  server_->Stop();
  ASSERT_TRUE(RunUntil(
      loop_, [&] { return result.has_value(); }, 2s));
  EXPECT_FALSE(*result);
}

TEST_F(DevicePlugin, StopEndsTheStreamsAndRemovesTheSocketWithinASecond) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet.Lists().size() == 1; }));
  EXPECT_EQ(server_->Streams(), 1U);
  const Time before = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);
  EXPECT_FALSE(Exists(socket_));
  ASSERT_TRUE(RunUntil(loop_, [&] { return kubelet.OpenStreams() == 0; }));
}

TEST_F(DevicePlugin, KnowsThatItsSocketWasDeletedOrReplacedAndLeavesAnothersSocketAlone) {
  Serve({{"a", true, {}}});
  EXPECT_TRUE(server_->SocketIsOurs());
  unlink(socket_.c_str());
  EXPECT_FALSE(server_->SocketIsOurs());
  const SilentSocket other(socket_);
  EXPECT_FALSE(server_->SocketIsOurs());
  server_->Stop();
  EXPECT_TRUE(Exists(socket_));
}

TEST_F(DevicePlugin, ReplacesTheSocketOfAnEarlierProcess) {
  { const SilentSocket earlier(socket_); }
  ASSERT_TRUE(Exists(socket_));
  FakeKubelet kubelet(folder_.path() + "/");
  Serve({{"a", true, {}}});
  EXPECT_TRUE(Register(kubelet.SocketPath()));
}

TEST_F(DevicePlugin, ANewServerOnTheSamePathTakesOverAfterTheOldOneStopped) {
  FakeKubelet kubelet(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  server_->Stop();
  Serve({{"b", true, {}}});
  ASSERT_TRUE(Register(kubelet.SocketPath()));
  const std::vector<PluginDevice> expected = {{"b", true, {}}};
  EXPECT_TRUE(RunUntil(
      loop_, [&] { return !kubelet.Lists().empty() && kubelet.Lists().back() == expected; }));
  EXPECT_TRUE(server_->SocketIsOurs());
}

TEST_F(DevicePlugin, NoticesThatKubeletNoLongerFollows) {
  auto kubelet = std::make_unique<FakeKubelet>(folder_.path());
  Serve({{"a", true, {}}});
  ASSERT_TRUE(Register(kubelet->SocketPath()));
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_->Streams() == 1; }));
  kubelet.reset();
  EXPECT_TRUE(RunUntil(loop_, [&] { return server_->Streams() == 0; }));
}

TEST_F(DevicePlugin, APathTooLongForAUnixSocketIsSaid) {
  const auto started = DevicePluginServer::Start(
      loop_.get_executor(), "/" + std::string(200, 'x') + ".sock", StateOf({}));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind(), ErrorKind::kInvalid);
}

}  // namespace
}  // namespace pawl::node
