#include "kube/watch.h"

#include <gtest/gtest.h>

#include "kube/object.h"
#include "kube/store.h"
#include "kube/test_server.h"

namespace pawl::kube {
namespace {

using testing::Answer;
using testing::NewClient;
using testing::RunUntil;
using testing::TestReply;
using testing::TestServer;
using testing::Watch;
using Request = TestServer::Request;

bool IsWatch(const Request& request) {
  return request.target.find("watch=true") != std::string::npos;
}

std::string Frame(const std::string& type, const std::string& name, int version) {
  return R"({"type":")" + type + R"(","object":{"kind":"Node","metadata":{"name":")" + name +
         R"(","uid":"u-)" + name + R"(","resourceVersion":")" + std::to_string(version) + R"("}}})";
}

std::string ListOf(int version, const std::vector<std::string>& names) {
  std::string items;
  for (const std::string& name : names) {
    if (!items.empty()) items += ",";
    items += R"({"metadata":{"name":")" + name + R"(","uid":"u-)" + name +
             R"(","resourceVersion":"1"}})";
  }
  return R"({"kind":"NodeList","metadata":{"resourceVersion":")" + std::to_string(version) +
         R"("},"items":[)" + items + "]}";
}

std::string ErrorFrame(int code, const std::string& reason) {
  return R"({"type":"ERROR","object":{"kind":"Status","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"("}})";
}

// A server whose watches are answered from a list, the last one for ever after.
class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest()
      : store_([](const json::value& o) -> Result<std::string> { return ResourceVersion(o); }) {}

  ~ReflectorTest() override {
    if (!reflector_) return;
    reflector_->Stop();
    RunUntil(loop_, [&] { return ended_; });
  }

  TestReply Handle(const Request& request) {
    if (!IsWatch(request)) {
      const size_t at = std::min(lists_++, list_replies_.size() - 1);
      return list_replies_[at];
    }
    const size_t at = std::min(watches_++, watch_replies_.size() - 1);
    return watch_replies_[at];
  }

  Task<> Run() {
    co_await reflector_->Run();
    ended_ = true;
  }

  void Start(ReflectorOptions options = ReflectorOptions()) {
    server_.emplace(loop_, [this](const Request& request) { return Handle(request); });
    client_ = NewClient(loop_, server_->Url());
    WatchTarget target;
    target.resource = kNodes;
    target.label_selector = "x=1";
    reflector_.emplace(*client_, target, store_, options);
    Spawn(loop_.get_executor(), "reflector", Run());
  }

  std::string Names() const {
    std::string text;
    for (const auto& version : store_.Snapshot()) text += *version + " ";
    return text;
  }

  const Request& Nth(size_t index) const { return server_->requests()[index]; }
  static bool Has(const Request& request, std::string_view part) {
    return request.target.find(part) != std::string::npos;
  }

  asio::io_context loop_;
  std::vector<TestReply> list_replies_;
  std::vector<TestReply> watch_replies_;
  size_t lists_ = 0;
  size_t watches_ = 0;
  std::optional<TestServer> server_;
  std::unique_ptr<Client> client_;
  Store<std::string> store_;
  std::optional<Reflector> reflector_;
  bool ended_ = false;
};

TEST_F(ReflectorTest, ListsThenWatchesFromThere) {
  list_replies_ = {Answer(200, ListOf(5, {"a", "b"}))};
  watch_replies_ = {
      Watch({Frame("ADDED", "c", 6), Frame("MODIFIED", "a", 7), Frame("DELETED", "b", 8)})};
  Start();
  RunUntil(loop_, [&] { return reflector_->resource_version() == "8"; });
  EXPECT_EQ(Names(), "7 6 ");
  EXPECT_TRUE(reflector_->synced());
  ASSERT_EQ(server_->requests().size(), 2U);
  EXPECT_EQ(Nth(0).target, "/api/v1/nodes?labelSelector=x%3D1&limit=500");
  EXPECT_EQ(Nth(1).target,
            "/api/v1/nodes?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds="
            "320&labelSelector=x%3D1");
}

TEST_F(ReflectorTest, WatchesOnFromTheLastBookmarkWithoutListing) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  watch_replies_ = {Watch({Frame("BOOKMARK", "", 50)}, TestReply::End::kKeep),
                    Watch({Frame("MODIFIED", "a", 51)})};
  Start();
  RunUntil(loop_, [&] { return reflector_->resource_version() == "51"; });
  EXPECT_EQ(lists_, 1U);
  EXPECT_TRUE(Has(Nth(2), "resourceVersion=50&"));
}

TEST_F(ReflectorTest, ListsAgainAtItsPlaceAfter410) {
  list_replies_ = {Answer(200, ListOf(5, {"a", "b"})), Answer(200, ListOf(60, {"b", "c"}))};
  watch_replies_ = {Watch({Frame("MODIFIED", "a", 50), ErrorFrame(410, "Expired")}), Watch({})};
  Start();
  RunUntil(loop_, [&] { return watches_ == 2; });
  EXPECT_EQ(lists_, 2U);
  EXPECT_TRUE(Has(Nth(2), "resourceVersion=50&resourceVersionMatch=NotOlderThan"));
  EXPECT_TRUE(Has(Nth(3), "resourceVersion=60&"));
  EXPECT_EQ(store_.size(), 2U);
  EXPECT_FALSE(store_.Get(ObjectKey{"", "a"}));
}

TEST_F(ReflectorTest, ListsAgainAfterHttp410) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  watch_replies_ = {Answer(410, "gone"), Watch({})};
  Start();
  RunUntil(loop_, [&] { return watches_ == 2; });
  EXPECT_EQ(lists_, 2U);
}

TEST_F(ReflectorTest, ListsTheNewestWhenItsPlaceIsAheadOfTheServer) {
  list_replies_ = {Answer(200, ListOf(5, {"a"})),
                   Answer(504, R"({"kind":"Status","reason":"Timeout","details":{"causes":[)"
                               R"({"reason":"ResourceVersionTooLarge"}]}})"),
                   Answer(200, ListOf(3, {"a"}))};
  watch_replies_ = {Watch({ErrorFrame(410, "Expired")}), Watch({})};
  Start();
  RunUntil(loop_, [&] { return watches_ == 2; });
  EXPECT_TRUE(Has(Nth(2), "resourceVersion=5&"));
  EXPECT_FALSE(Has(Nth(3), "resourceVersion="));
}

TEST_F(ReflectorTest, SurvivesAResetInTheMiddleOfAFrame) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  TestReply broken = Watch({Frame("MODIFIED", "a", 6)}, TestReply::End::kReset);
  broken.bytes += "100\r\n{\"type\":\"ADDED\",\"obj";
  watch_replies_ = {broken, Watch({Frame("ADDED", "b", 7)})};
  Start();
  RunUntil(loop_, [&] { return store_.size() == 2; });
  EXPECT_EQ(lists_, 1U);
}

TEST_F(ReflectorTest, ReadsFramesThatAreSplitAnywhere) {
  list_replies_ = {Answer(200, ListOf(5, {}))};
  watch_replies_ = {Watch({Frame("ADDED", "a\\\"}{", 6), Frame("ADDED", "b", 7)})};
  watch_replies_[0].piece = 1;
  Start();
  RunUntil(loop_, [&] { return store_.size() == 2; });
  EXPECT_TRUE(store_.Get(ObjectKey{"", "a\"}{"}));
}

TEST_F(ReflectorTest, LeavesAConnectionThatFellSilentAfterABookmark) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  watch_replies_ = {Watch({Frame("BOOKMARK", "", 9)}), Watch({Frame("ADDED", "b", 10)})};
  ReflectorOptions options;
  options.silence = 20ms;
  Start(options);
  RunUntil(loop_, [&] { return store_.size() == 2; });
  EXPECT_EQ(lists_, 1U);
  EXPECT_TRUE(Has(Nth(2), "resourceVersion=9&"));
}

TEST_F(ReflectorTest, LeavesAWatchThatOutlivesItsTime) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  watch_replies_ = {Watch({}), Watch({Frame("ADDED", "b", 10)})};
  ReflectorOptions options;
  options.timeout = -30s;  // with half of the spread and the grace: now
  options.grace = 20ms;
  Start(options);
  RunUntil(loop_, [&] { return store_.size() == 2; });
  EXPECT_EQ(lists_, 1U);
}

TEST_F(ReflectorTest, WaitsAndWatchesFromTheSamePlaceWhenTheServerIsBusy) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  watch_replies_ = {Answer(429, "later", "Retry-After: 1\r\n"),
                    ::pawl::kube::testing::Answer(503, "later"), Watch({Frame("ADDED", "b", 10)})};
  Start();
  RunUntil(loop_, [&] { return store_.size() == 2; });
  EXPECT_EQ(lists_, 1U);
}

TEST_F(ReflectorTest, ListsAgainAfterAnotherErrorFrame) {
  list_replies_ = {Answer(200, ListOf(5, {"a"})), Answer(200, ListOf(6, {"a", "b"}))};
  watch_replies_ = {Watch({ErrorFrame(500, "InternalError")}), Watch({})};
  Start();
  RunUntil(loop_, [&] { return watches_ == 2; });
  EXPECT_EQ(lists_, 2U);
  EXPECT_EQ(store_.size(), 2U);
}

TEST_F(ReflectorTest, KeepsTheOldStateWhenAListBreaksOff) {
  TestReply broken = Answer(200, ListOf(60, {"c", "d"}));
  broken.bytes.resize(broken.bytes.size() - 30);
  broken.end = TestReply::End::kReset;
  list_replies_ = {Answer(200, ListOf(5, {"a"})), broken, Answer(500, "no"),
                   Answer(200, ListOf(61, {"a", "e"}))};
  watch_replies_ = {Watch({ErrorFrame(410, "Expired")}), Watch({})};
  Start();
  RunUntil(loop_, [&] { return lists_ == 3; });
  EXPECT_EQ(store_.size(), 1U);
  RunUntil(loop_, [&] { return watches_ == 2; });
  EXPECT_TRUE(store_.Get(ObjectKey{"", "e"}));
  EXPECT_FALSE(store_.Get(ObjectKey{"", "c"}));
}

TEST_F(ReflectorTest, ListsInOnePieceWhenThePagesExpire) {
  list_replies_ = {Answer(200, R"({"metadata":{"resourceVersion":"5","continue":"t"},"items":[]})"),
                   Answer(410, R"({"kind":"Status","reason":"Expired","code":410})"),
                   Answer(200, ListOf(9, {"a"}))};
  watch_replies_ = {Watch({})};
  Start();
  RunUntil(loop_, [&] { return watches_ == 1; });
  EXPECT_FALSE(Has(Nth(2), "limit="));
}

TEST_F(ReflectorTest, StopsWhileAWatchIsSilent) {
  list_replies_ = {Answer(200, ListOf(5, {"a"}))};
  watch_replies_ = {Watch({})};
  Start();
  RunUntil(loop_, [&] { return watches_ == 1; });
  reflector_->Stop();
  RunUntil(loop_, [&] { return ended_; });
  EXPECT_EQ(server_->requests().size(), 2U);
}

}  // namespace
}  // namespace pawl::kube
