#include "kube/events.h"

#include <gtest/gtest.h>

#include "kube/test_server.h"

namespace pawl::kube {
namespace {

const WallTime kWall{std::chrono::seconds(1'000'000'000)};

EventAbout Node() {
  EventAbout about;
  about.resource = kNodes;
  about.name = "n1";
  about.uid = "u1";
  return about;
}

EventText Lost(const std::string& note = "GPU-1 is gone") {
  EventText text;
  text.warning = true;
  text.reason = "GpuLost";
  text.action = "Watch";
  text.note = note;
  return text;
}

TEST(EventLedger, PostsAnEventOfTheCurrentForm) {
  EventLedger ledger("pawl-agent", "pawl-agent-n1");
  const auto work = ledger.Observe(Node(), Lost(), Time(0s), kWall);
  ASSERT_TRUE(work);
  EXPECT_FALSE(work->patch);
  EXPECT_EQ(ToJson(work->body),
            R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{)"
            R"("name":"n1.de0b6b3a7640000","namespace":"default"},)"
            R"("eventTime":"2001-09-09T01:46:40.000000Z","reportingController":"pawl-agent",)"
            R"("reportingInstance":"pawl-agent-n1","action":"Watch","reason":"GpuLost",)"
            R"("type":"Warning","regarding":{"apiVersion":"v1","kind":"Node","name":"n1",)"
            R"("uid":"u1"},"note":"GPU-1 is gone"})");
}

TEST(EventLedger, MakesASeriesOfEqualEvents) {
  EventLedger ledger("c", "i");
  ASSERT_TRUE(ledger.Observe(Node(), Lost(), Time(0s), kWall));
  const auto second = ledger.Observe(Node(), Lost("other words"), Time(20s), kWall);
  ASSERT_TRUE(second && second->patch);
  EXPECT_EQ(ToJson(second->body),
            R"({"series":{"count":2,"lastObservedTime":"2001-09-09T01:46:40.000000Z"}})");
  EXPECT_FALSE(ledger.Observe(Node(), Lost(), Time(40s), kWall));
  EXPECT_TRUE(ledger.Tick(Time(60s)).empty());
  const auto late = ledger.Tick(Time(40s + 6min));
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(FindPath(late[0].body, {"series", "count"})->get_int64(), 3);
  EXPECT_FALSE(ledger.Observe(Node(), Lost(), Time(7min), kWall)->patch);
}

TEST(EventLedger, TellsALongSeriesEveryHalfHour) {
  EventLedger ledger("c", "i");
  int sent = 0;
  for (int minute = 0; minute < 100; ++minute) {
    if (ledger.Observe(Node(), Lost(), Time(std::chrono::minutes(minute)), kWall)) ++sent;
  }
  EXPECT_EQ(sent, 5);  // at 0, 1, 31, 61 and 91 minutes
}

TEST(EventLedger, CutsALongNoteBetweenCharacters) {
  EventLedger ledger("c", "i");
  const auto work = ledger.Observe(Node(), Lost(std::string(1023, 'x') + "é"), Time(0s), kWall);
  EXPECT_EQ(TextAt(work->body, {"note"}), std::string(1023, 'x'));
}

TEST(EventRecorder, SendsWithoutMakingItsCallerWait) {
  asio::io_context loop;
  testing::TestServer server(
      loop, [](const testing::TestServer::Request&) { return testing::Answer(201, "{}"); });
  const auto client = testing::NewClient(loop, server.Url());
  EventRecorder recorder(*client, "pawl-test-n1");
  recorder.Emit(Node(), Lost());
  recorder.Emit(Node(), Lost());
  Spawn(loop.get_executor(), "events", recorder.Run());
  testing::RunUntil(loop, [&] { return server.requests().size() == 2; });
  EXPECT_EQ(server.requests()[0].method, "POST");
  EXPECT_EQ(server.requests()[0].target.find("/apis/events.k8s.io/v1/namespaces/default/events?"),
            0U);
  EXPECT_EQ(server.requests()[1].Header("Content-Type"), "application/strategic-merge-patch+json");
  recorder.Stop();
}

}  // namespace
}  // namespace pawl::kube
