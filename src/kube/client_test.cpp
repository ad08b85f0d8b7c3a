#include "kube/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.h"
#include "kube/test_server.h"

namespace pawl::kube {
namespace {

using testing::Answer;
using testing::Await;
using testing::NewClient;
using testing::TestReply;
using testing::TestServer;
using Request = TestServer::Request;

constexpr std::string_view kNode = R"({"kind":"Node","metadata":{"name":"n1","uid":"u"}})";

std::string Refusal(const std::string& reason, int code) {
  return R"({"kind":"Status","status":"Failure","reason":")" + reason +
         R"(","message":"no","code":)" + std::to_string(code) + "}";
}

json::value NodeToApply() {
  json::object node = NewObject(kNodes, "", "n1");
  node["metadata"].get_object()["labels"] = {{"a", "b"}};
  return node;
}

TEST(Client, GetsAnObjectAndSaysWhoItIs) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return Answer(200, std::string(kNode)); });
  const auto client = NewClient(loop, server.Url() + "/prefix/");
  const auto node = Await(loop, client->Get(kNodes, "", "n1"));
  ASSERT_TRUE(node) << node.error().message();
  EXPECT_EQ(Name(*node), "n1");
  ASSERT_EQ(server.requests().size(), 1U);
  const Request& request = server.requests()[0];
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/prefix/api/v1/nodes/n1");
  EXPECT_EQ(request.Header("User-Agent"), "pawl-test/1.2.3");
  EXPECT_EQ(request.Header("Accept"), "application/json");
  EXPECT_EQ(request.Header("Host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST(Client, KeepsOneConnectionForRequestsInARow) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return Answer(200, std::string(kNode)); });
  const auto client = NewClient(loop, server.Url());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Await(loop, client->Get(kNodes, "", "n1")));
  EXPECT_EQ(server.requests().back().connection, 1U);
}

TEST(Client, OpensANewConnectionWhenTheServerClosedTheIdleOne) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) {
    TestReply reply = Answer(200, std::string(kNode));
    reply.end = TestReply::End::kClose;
    return reply;
  });
  const auto client = NewClient(loop, server.Url());
  for (int i = 0; i < 3; ++i) {
    const json::value object = NodeToApply();
    ASSERT_TRUE(Await(loop, client->Apply(kNodes, object)));
  }
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(Client, AppliesWithItsFieldManager) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return Answer(200, std::string(kNode)); });
  const auto client = NewClient(loop, server.Url());
  WriteOptions options;
  options.subresource = "status";
  options.dry_run = true;
  options.validation = FieldValidation::kStrict;
  const json::value object = NodeToApply();
  ASSERT_TRUE(Await(loop, client->Apply(kNodes, object, options)));
  const Request& request = server.requests()[0];
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target,
            "/api/v1/nodes/n1/status?force=true&fieldManager=pawl-test&dryRun=All&fieldValidation="
            "Strict");
  EXPECT_EQ(request.Header("Content-Type"), "application/apply-patch+yaml");
  EXPECT_EQ(request.body, ToJson(object));
}

TEST(Client, SendsEachPatchAsItsOwnMediaType) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return Answer(200, std::string(kNode)); });
  const auto client = NewClient(loop, server.Url());
  const json::value patch = json::object();
  for (const PatchType type : {PatchType::kMerge, PatchType::kJson, PatchType::kStrategic}) {
    ASSERT_TRUE(Await(loop, client->Patch(kNodes, "", "n1", type, patch)));
  }
  EXPECT_EQ(server.requests()[0].Header("Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(server.requests()[1].Header("Content-Type"), "application/json-patch+json");
  EXPECT_EQ(server.requests()[2].Header("Content-Type"), "application/strategic-merge-patch+json");
}

TEST(Client, DeletesWithPreconditions) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return Answer(200, R"({"kind":"Status"})"); });
  const auto client = NewClient(loop, server.Url());
  DeleteOptions options;
  options.uid = "u1";
  options.propagation = "Foreground";
  ASSERT_TRUE(Await(loop, client->Delete(kPods, "g", "p", options)));
  EXPECT_EQ(server.requests()[0].target, "/api/v1/namespaces/g/pods/p");
  EXPECT_EQ(server.requests()[0].body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
            R"("preconditions":{"uid":"u1"}})");
}

TEST(Client, TellsRefusalsApartByKind) {
  asio::io_context loop;
  std::string reason;
  int code = 0;
  TestServer server(loop, [&](const Request&) { return Answer(code, Refusal(reason, code)); });
  const auto client = NewClient(loop, server.Url());
  const std::vector<std::tuple<std::string, int, ErrorKind>> rows = {
      {"NotFound", 404, ErrorKind::kNotFound},
      {"Conflict", 409, ErrorKind::kConflict},
      {"AlreadyExists", 409, ErrorKind::kAlreadyExists},
      {"Forbidden", 403, ErrorKind::kPermission},
      {"Invalid", 422, ErrorKind::kInvalid},
  };
  for (const auto& [word, number, kind] : rows) {
    reason = word;
    code = number;
    const json::value object = NodeToApply();
    const auto refused = Await(loop, client->Create(kNodes, object));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), kind) << word;
    EXPECT_EQ(refused.error().message(),
              "POST /api/v1/nodes: " + word + " (" + std::to_string(number) + "): no");
  }
}

TEST(Client, TriesAgainAfter429WithRetryAfter) {
  asio::io_context loop;
  int left = 2;
  TestServer server(loop, [&](const Request&) {
    if (left-- > 0) return Answer(429, Refusal("TooManyRequests", 429), "Retry-After: 1\r\n");
    return Answer(200, std::string(kNode));
  });
  const auto client = NewClient(loop, server.Url());
  const json::value object = NodeToApply();
  EXPECT_TRUE(Await(loop, client->Apply(kNodes, object)));
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(Client, GivesUpAfterTenRetries) {
  asio::io_context loop;
  TestServer server(loop,
                    [&](const Request&) { return Answer(503, "busy", "Retry-After: 1\r\n"); });
  const auto client = NewClient(loop, server.Url());
  const auto refused = Await(loop, client->Get(kNodes, "", "n1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(server.requests().size(), 11U);
}

TEST(Client, WaitsNoLongerThanTheRetryWindow) {
  asio::io_context loop;
  TestServer server(loop,
                    [&](const Request&) { return Answer(503, "busy", "Retry-After: 300\r\n"); });
  const auto client = NewClient(loop, server.Url());
  EXPECT_FALSE(Await(loop, client->Get(kNodes, "", "n1")));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(Client, DoesNotTryAgainA500WithoutRetryAfter) {
  asio::io_context loop;
  TestServer server(loop, [&](const Request&) { return Answer(500, "oops"); });
  const auto client = NewClient(loop, server.Url());
  EXPECT_FALSE(Await(loop, client->Get(kNodes, "", "n1")));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(Client, RepeatsAGetWhoseConnectionBreaksAndNotAPatch) {
  asio::io_context loop;
  int broken = 1;
  TestServer server(loop, [&](const Request&) {
    if (broken-- > 0) return TestReply{"", TestReply::End::kReset, 0};
    return Answer(200, std::string(kNode));
  });
  const auto client = NewClient(loop, server.Url());
  EXPECT_TRUE(Await(loop, client->Get(kNodes, "", "n1")));
  EXPECT_EQ(server.requests().size(), 2U);
  broken = 1;
  const json::value object = NodeToApply();
  const auto refused = Await(loop, client->Apply(kNodes, object));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(Client, ReportsABodyThatBreaksOff) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) {
    TestReply reply = Answer(200, std::string(kNode));
    reply.bytes.resize(reply.bytes.size() - 5);
    reply.end = TestReply::End::kClose;
    return reply;
  });
  const auto client = NewClient(loop, server.Url());
  const json::value object = NodeToApply();
  const auto refused = Await(loop, client->Apply(kNodes, object));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnavailable);
}

TEST(Client, GivesUpOnASilentServerAtItsDeadline) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return TestReply{"", TestReply::End::kHang, 0}; });
  const auto client = NewClient(loop, server.Url());
  CallOptions options;
  options.deadline = 20ms;
  const auto late = Await(loop, client->Get(kNodes, "", "n1", options));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::kDeadlineExceeded);
}

TEST(Client, SaysThatNobodyListens) {
  asio::io_context loop;
  asio::ip::tcp::acceptor port(loop, {asio::ip::address_v4::loopback(), 0});
  const std::string url = "http://127.0.0.1:" + std::to_string(port.local_endpoint().port());
  port.close();
  const auto client = NewClient(loop, url);
  const json::value object = NodeToApply();
  const auto refused = Await(loop, client->Apply(kNodes, object));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnavailable);
  EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("Connection refused"));
}

TEST(Client, ListsPageByPage) {
  asio::io_context loop;
  TestServer server(loop, [](const Request& request) {
    if (request.target.find("continue=") == std::string::npos) {
      return Answer(200,
                    R"({"kind":"NodeList","metadata":{"resourceVersion":"7","continue":"a/b"},)"
                    R"("items":[{"metadata":{"name":"n1","managedFields":[1]}}]})");
    }
    return Answer(200,
                  R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"n2"}}]})");
  });
  const auto client = NewClient(loop, server.Url());
  ListOptions options;
  options.label_selector = "a=b,!c";
  const auto nodes = Await(loop, client->List(kNodes, "", options));
  ASSERT_TRUE(nodes) << nodes.error().message();
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ(ToJson((*nodes)[0]), R"({"metadata":{"name":"n1"},"apiVersion":"v1","kind":"Node"})");
  EXPECT_EQ(Name((*nodes)[1]), "n2");
  EXPECT_EQ(server.requests()[0].target, "/api/v1/nodes?labelSelector=a%3Db%2C%21c&limit=500");
  EXPECT_EQ(server.requests()[1].target,
            "/api/v1/nodes?labelSelector=a%3Db%2C%21c&limit=500&continue=a%2Fb");
}

TEST(Client, ReadsABodyThatDribbles) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) {
    TestReply reply = testing::Watch({R"({"metadata":{"resourceVersion":"7"},"items":[)",
                                      R"({"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]})"},
                                     TestReply::End::kKeep);
    reply.piece = 1;
    return reply;
  });
  const auto client = NewClient(loop, server.Url());
  const auto nodes = Await(loop, client->List(kNodes, ""));
  ASSERT_TRUE(nodes) << nodes.error().message();
  EXPECT_EQ(nodes->size(), 2U);
}

Task<> CountGet(Client& client, int& done) {
  const Result<json::value> node = co_await client.Get(kNodes, "", "n1");
  EXPECT_TRUE(node);
  ++done;
}

TEST(Client, LetsRequestsBeyondEightConnectionsWait) {
  asio::io_context loop;
  TestServer server(loop, [](const Request&) { return Answer(200, std::string(kNode)); });
  const auto client = NewClient(loop, server.Url());
  int done = 0;
  constexpr int kTasks = 100;
  for (int i = 0; i < kTasks; ++i) {
    Spawn(loop.get_executor(), "get", CountGet(*client, done));
  }
  testing::RunUntil(loop, [&] { return done == kTasks; });
  uint64_t most = 0;
  for (const Request& request : server.requests()) most = std::max(most, request.connection);
  EXPECT_LE(most, 8U);
  EXPECT_EQ(server.requests().size(), 100U);
}

}  // namespace
}  // namespace pawl::kube
