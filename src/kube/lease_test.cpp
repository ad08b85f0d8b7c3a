#include "kube/lease.h"

#include <gtest/gtest.h>

#include "kube/object.h"
#include "kube/test_server.h"

namespace pawl::kube {
namespace {

using testing::Await;
using testing::RunUntil;
using testing::TestReply;
using testing::TestServer;

json::value LeaseOf(const std::string& holder, int transitions = 3) {
  return {{"metadata", {{"name", "l"}}},
          {"spec",
           {{"holderIdentity", holder},
            {"leaseDurationSeconds", 15},
            {"acquireTime", "2001-01-01T00:00:00.000000Z"},
            {"renewTime", "2001-01-01T00:00:00.000000Z"},
            {"leaseTransitions", transitions}}}};
}

TEST(LeaseOptions, MustFitEachOther) {
  const auto valid = [](Duration duration, Duration deadline, Duration retry) {
    LeaseOptions options;
    options.duration = duration;
    options.renew_deadline = deadline;
    options.retry = retry;
    return Validate(options).has_value();
  };
  EXPECT_TRUE(valid(15s, 10s, 2s));
  EXPECT_FALSE(valid(10s, 10s, 2s));
  EXPECT_FALSE(valid(15s, 2400ms, 2s));
}

TEST(LeaseView, WaitsAWholeDurationSinceItFirstSawTheHolder) {
  LeaseView view("me");
  EXPECT_TRUE(view.MayTake(Time(0s)));
  view.Observe(LeaseOf("other"), Time(100s));
  EXPECT_FALSE(view.MayTake(Time(100s)));
  view.Observe(LeaseOf("other"), Time(110s));
  EXPECT_FALSE(view.MayTake(Time(114s)));
  EXPECT_TRUE(view.MayTake(Time(115s)));
}

TEST(LeaseView, CountsATransitionOnlyForATaker) {
  LeaseView view("me");
  EXPECT_EQ(view.NextSpec(WallTime(), 15s)["leaseTransitions"].get_int64(), 0);
  view.Observe(LeaseOf("other"), Time());
  EXPECT_EQ(view.NextSpec(WallTime(), 15s)["leaseTransitions"].get_int64(), 4);
  view.Observe(LeaseOf("me"), Time());
  const json::object spec = view.NextSpec(WallTime(), 15s);
  EXPECT_EQ(spec.at("leaseTransitions").get_int64(), 3);
  EXPECT_EQ(spec.at("acquireTime").get_string(), "2001-01-01T00:00:00.000000Z");
  EXPECT_EQ(ToJson(view.ReleasedSpec(WallTime())),
            R"({"holderIdentity":"","leaseDurationSeconds":1,)"
            R"("acquireTime":"1970-01-01T00:00:00.000000Z",)"
            R"("renewTime":"1970-01-01T00:00:00.000000Z","leaseTransitions":3})");
}

// A server that keeps one lease as the API server does: a stale write is a conflict.
class LeaseServer {
 public:
  explicit LeaseServer(asio::io_context& loop)
      : server_(loop, [this](const TestServer::Request& request) { return Handle(request); }) {}

  std::string Url() { return server_.Url(); }
  std::string Holder() { return TextAt(lease_, {"spec", "holderIdentity"}); }
  json::value& lease() { return lease_; }
  void Set(json::value lease) { Put(std::move(lease)); }
  void Fail() { failing_ = true; }
  size_t writes() const { return writes_; }
  // Called in the middle of the next write, which then fails or goes on.
  void OnWrite(bool fail, std::function<void()> meanwhile) {
    fail_once_ = fail;
    meanwhile_ = std::move(meanwhile);
  }

 private:
  void Put(json::value lease) {
    lease_ = std::move(lease);
    lease_.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
  }
  TestReply Handle(const TestServer::Request& request) {
    if (failing_) return testing::Answer(500, "no");
    if (request.method == "GET") {
      if (lease_.is_null()) return testing::Answer(404, "none");
      return testing::Answer(200, ToJson(lease_));
    }
    ++writes_;
    if (meanwhile_) {
      std::exchange(meanwhile_, nullptr)();
      if (fail_once_) return testing::Answer(500, "no");
    }
    const Result<json::value> body = ParseJson(request.body);
    if (request.method == "PUT" && ResourceVersion(*body) != std::to_string(version_)) {
      return testing::Answer(409, "stale");
    }
    Put(*body);
    return testing::Answer(200, ToJson(lease_));
  }

  json::value lease_;
  int version_ = 0;
  size_t writes_ = 0;
  bool failing_ = false;
  bool fail_once_ = false;
  std::function<void()> meanwhile_;
  TestServer server_;
};

class ElectionTest : public ::testing::Test {
 protected:
  ElectionTest() : server_(loop_), client_(testing::NewClient(loop_, server_.Url())) {}

  std::unique_ptr<LeaderElection> NewElection(const std::string& identity) {
    LeaseOptions options;
    options.ns = "g";
    options.name = "l";
    options.identity = identity;
    return std::make_unique<LeaderElection>(loop_.get_executor(), *client_, options);
  }
  Task<> HoldAndKeep(LeaderElection& election) { lost_ = co_await election.Hold(); }
  Task<> AcquireAndKeep(LeaderElection& election) {
    const Status acquired = co_await election.Acquire();
    acquired_ = acquired.has_value();
  }
  Task<> ReleaseAndKeep(LeaderElection& election) {
    co_await election.Release();
    released_ = true;
  }
  Task<bool> ReleaseNow(LeaderElection& election) {
    co_await election.Release();
    co_return true;
  }

  asio::io_context loop_;
  LeaseServer server_;
  std::unique_ptr<Client> client_;
  std::optional<Error> lost_;
  bool acquired_ = false;
  bool released_ = false;
};

TEST_F(ElectionTest, CreatesTheLeaseAndRenewsIt) {
  const auto election = NewElection("me");
  ASSERT_TRUE(Await(loop_, election->Acquire()));
  EXPECT_EQ(server_.Holder(), "me");
  Spawn(loop_.get_executor(), "hold", HoldAndKeep(*election));
  RunUntil(loop_, [&] { return server_.writes() > 3; });
  EXPECT_FALSE(lost_);
  election->Stop();
  RunUntil(loop_, [&] { return lost_.has_value(); });
  EXPECT_EQ(lost_->kind(), ErrorKind::kCancelled);
}

TEST_F(ElectionTest, WaitsWhileAnotherHolds) {
  server_.Set(LeaseOf("other"));
  const auto election = NewElection("me");
  Spawn(loop_.get_executor(), "acquire", AcquireAndKeep(*election));
  RunUntil(loop_, [&] { return client_->requests() > 3; });
  EXPECT_EQ(server_.Holder(), "other");
  EXPECT_FALSE(acquired_);
  server_.Set(LeaseOf(""));
  RunUntil(loop_, [&] { return acquired_; });
  EXPECT_EQ(server_.Holder(), "me");
  EXPECT_EQ(FindPath(server_.lease(), {"spec", "leaseTransitions"})->get_int64(), 4);
}

TEST_F(ElectionTest, LosesTheLeaseToAnother) {
  const auto election = NewElection("me");
  ASSERT_TRUE(Await(loop_, election->Acquire()));
  Spawn(loop_.get_executor(), "hold", HoldAndKeep(*election));
  server_.Set(LeaseOf("other"));
  RunUntil(loop_, [&] { return lost_.has_value(); });
  EXPECT_EQ(lost_->kind(), ErrorKind::kUnavailable);
  EXPECT_FALSE(election->leading());
}

TEST_F(ElectionTest, StopsBelievingInItselfAtTheDeadline) {
  LeaseOptions options;
  options.ns = "g";
  options.name = "l";
  options.identity = "me";
  options.renew_deadline = 20ms;
  LeaderElection election(loop_.get_executor(), *client_, options);
  ASSERT_TRUE(Await(loop_, election.Acquire()));
  server_.Fail();
  Spawn(loop_.get_executor(), "hold", HoldAndKeep(election));
  RunUntil(loop_, [&] { return lost_.has_value(); });
  EXPECT_EQ(lost_->kind(), ErrorKind::kUnavailable);
}

TEST_F(ElectionTest, LetsGoOfTheLeaseOnACleanStop) {
  const auto election = NewElection("me");
  ASSERT_TRUE(Await(loop_, election->Acquire()));
  EXPECT_TRUE(Await(loop_, ReleaseNow(*election)));
  EXPECT_EQ(server_.Holder(), "");
  EXPECT_EQ(FindPath(server_.lease(), {"spec", "leaseDurationSeconds"})->get_int64(), 1);
}

TEST_F(ElectionTest, ARenewalUnderWayDoesNotTakeAReleasedLeaseAgain) {
  const auto election = NewElection("me");
  ASSERT_TRUE(Await(loop_, election->Acquire()));
  server_.OnWrite(true, [&] { Spawn(loop_.get_executor(), "release", ReleaseAndKeep(*election)); });
  Spawn(loop_.get_executor(), "hold", HoldAndKeep(*election));
  RunUntil(loop_, [&] { return lost_.has_value() && released_; });
  EXPECT_EQ(lost_->kind(), ErrorKind::kCancelled);
  EXPECT_EQ(server_.Holder(), "");
}

TEST_F(ElectionTest, ALeaseTakenWhileStoppingIsLetGoToo) {
  server_.Set(LeaseOf(""));
  const auto election = NewElection("me");
  server_.OnWrite(false, [&] { election->Stop(); });
  Spawn(loop_.get_executor(), "acquire", AcquireAndKeep(*election));
  RunUntil(loop_, [&] { return server_.writes() > 0; });
  EXPECT_TRUE(Await(loop_, ReleaseNow(*election)));
  EXPECT_EQ(server_.Holder(), "");
  EXPECT_FALSE(acquired_);
}

TEST_F(ElectionTest, DoesNotLetGoOfWhatAnotherHolds) {
  const auto election = NewElection("me");
  ASSERT_TRUE(Await(loop_, election->Acquire()));
  server_.OnWrite(true, [&] {
    server_.Set(LeaseOf("other"));
    election->Stop();
  });
  Spawn(loop_.get_executor(), "hold", HoldAndKeep(*election));
  RunUntil(loop_, [&] { return lost_.has_value(); });
  EXPECT_TRUE(Await(loop_, ReleaseNow(*election)));
  EXPECT_EQ(server_.Holder(), "other");
}

}  // namespace
}  // namespace pawl::kube
