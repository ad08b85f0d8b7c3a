#include "kube/queue.h"

#include <gtest/gtest.h>

#include "kube/test_server.h"

namespace pawl::kube {
namespace {

TEST(WorkLine, HoldsAKeyOnceAndNeverInTwoHands) {
  WorkLine line;
  line.Add("a");
  line.Add("a");
  EXPECT_EQ(line.size(), 1U);
  EXPECT_EQ(line.Take(), "a");
  line.Add("a");
  EXPECT_EQ(line.size(), 0U);
  line.Done("a");
  EXPECT_EQ(line.size(), 1U);
}

TEST(FailureBackoff, DoublesFrom5MillisecondsTo1000Seconds) {
  FailureBackoff backoff;
  EXPECT_EQ(backoff.Next("a"), Duration(5ms));
  EXPECT_EQ(backoff.Next("a"), Duration(10ms));
  EXPECT_EQ(backoff.Next("a"), Duration(20ms));
  for (int i = 4; i < 18; ++i) backoff.Next("a");
  EXPECT_EQ(backoff.Next("a"), Duration(655'360ms));
  EXPECT_EQ(backoff.Next("a"), Duration(1000s));
  EXPECT_EQ(backoff.Next("b"), Duration(5ms));
  backoff.Forget("a");
  EXPECT_EQ(backoff.Next("a"), Duration(5ms));
}

Task<> TakeAll(WorkQueue& queue, std::string& taken) {
  while (true) {
    std::optional<std::string> key = co_await queue.Get();
    if (!key) break;
    taken += *key;
    queue.Done(*key);
  }
  taken += ".";
}

TEST(WorkQueue, GivesKeysToItsWorkersUntilItShutsDown) {
  asio::io_context loop;
  WorkQueue queue(loop.get_executor());
  std::string taken;
  Spawn(loop.get_executor(), "worker", TakeAll(queue, taken));
  Spawn(loop.get_executor(), "worker", TakeAll(queue, taken));
  queue.Add("a");
  queue.Add("b");
  testing::RunUntil(loop, [&] { return taken.size() == 2; });
  queue.Add("c");
  queue.ShutDown();
  queue.Add("d");
  testing::RunUntil(loop, [&] { return taken.size() == 5; });
  EXPECT_EQ(taken, "abc..");
}

TEST(WorkQueue, GivesAKeyLaterAndTheEarliestTimeHolds) {
  asio::io_context loop;
  WorkQueue queue(loop.get_executor());
  std::string taken;
  Spawn(loop.get_executor(), "worker", TakeAll(queue, taken));
  queue.AddAfter("late", 1h);
  queue.AddAfter("late", 5ms);
  queue.AddAfter("late", 2h);
  queue.AddRateLimited("again");
  testing::RunUntil(loop, [&] { return taken.size() == 9; });
  EXPECT_EQ(queue.failures("again"), 1);
}

}  // namespace
}  // namespace pawl::kube
