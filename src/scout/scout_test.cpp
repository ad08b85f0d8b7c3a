// The scout against an API server within the test, on which somebody else writes too.
#include "scout/scout.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "kube/test_server.h"

namespace pawl::scout {
namespace {

using kube::testing::RunUntil;
using kube::testing::TestReply;
using kube::testing::TestServer;

// A Node from which all that we write is taken off again at once.
class ScoutTest : public ::testing::Test {
 protected:
  ScoutTest() { root_.Write("etc/os-release", "ID=debian\n"); }

  TestReply Reply(const TestServer::Request& request) {
    if (request.method == "PATCH") {
      ++writes_;
      ++version_;
      return kube::testing::Answer(200, Node());
    }
    if (request.target.find("watch=") != std::string::npos) return kube::testing::Watch({});
    return kube::testing::Answer(
        200,
        R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[)" +
            Node() + "]}");
  }

  std::string Node() const {
    const std::string version = std::to_string(version_);
    return R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":")" + version +
           R"(","labels":{"nvidia.com/others":")" + version + R"("}}})";
  }

  // Until the scout has come to rest, or has written `writes` times.
  size_t WritesOf(Duration between_writes, size_t writes) {
    ScoutOptions options;
    options.node_name = "n1";
    options.host_root = root_.path();
    options.proc_root = root_.path();
    options.between_writes = between_writes;
    Scout scout(loop_.get_executor(), *client_, options);
    Spawn(loop_.get_executor(), "scout", RunToTheEnd(scout));
    RunUntil(loop_, [this] { return writes_ > 0; });
    if (writes > 1) {
      RunUntil(loop_, [this, writes] { return writes_ >= writes; });
    } else {
      RunUntil(loop_, [this] { return server_.Count("watch=") > 0; });
      while (loop_.poll() > 0) {
      }
    }
    const size_t written = writes_;
    scout.Stop();
    RunUntil(loop_, [this] { return ended_; });
    return written;
  }

  Task<> RunToTheEnd(Scout& scout) {
    co_await scout.Run();
    ended_ = true;
  }

  TemporaryFolder root_;
  asio::io_context loop_;
  size_t writes_ = 0;
  int version_ = 9;
  bool ended_ = false;
  TestServer server_{loop_, [this](const TestServer::Request& request) { return Reply(request); }};
  std::unique_ptr<kube::Client> client_ = kube::testing::NewClient(loop_, server_.Url());
};

TEST_F(ScoutTest, WritesAgainWhatSomebodyTakesOff) { EXPECT_GE(WritesOf(0s, 3), 3U); }

TEST_F(ScoutTest, DoesNotFightAtFullSpeed) { EXPECT_EQ(WritesOf(1h, 1), 1U); }

}  // namespace
}  // namespace pawl::scout
