#include "agent/validated_stage.h"

#include <gtest/gtest.h>

namespace pawl::agent {
namespace {

Board ReadyBoard(size_t healthy) {
  Board board;
  for (const char* stage : {"driver", "plugin", "discovery"}) {
    board.chain.At(stage).state = StageState::kReady;
  }
  board.chain.At("validated").state = StageState::kWaiting;
  board.healthy_devices = healthy;
  return board;
}

std::shared_ptr<const OwnNode> NodeWith(int64_t allocatable) {
  auto node = std::make_shared<OwnNode>();
  node->allocatable["nvidia.com/gpu"] = allocatable;
  return node;
}

TEST(Validate, WaitsForTheFirstStageThatIsNotReady) {
  Board board = ReadyBoard(4);
  board.chain.At("plugin").state = StageState::kFailed;
  const Outcome outcome = Validate(board, true, false, false);
  EXPECT_EQ(outcome.state, StageState::kWaiting);
  EXPECT_EQ(outcome.evidence, "waits for plugin");
}

TEST(Validate, WithoutKubernetesTheStagesAreEnough) {
  EXPECT_EQ(Validate(ReadyBoard(4), true, false, false).state, StageState::kReady);
}

TEST(Validate, WaitsUntilTheNodeShowsEveryHealthyGpu) {
  Board board = ReadyBoard(4);
  EXPECT_EQ(Validate(board, true, true, false).reason, "NodeNotRead");
  board.node = std::make_shared<OwnNode>();
  EXPECT_EQ(Validate(board, true, true, false).reason, "AllocatablePending");
  board.node = NodeWith(3);
  EXPECT_EQ(Validate(board, true, true, false).evidence,
            "the node shows 3 of 4 allocatable nvidia.com/gpu");
  board.node = NodeWith(4);
  EXPECT_EQ(Validate(board, true, true, false).state, StageState::kReady);
}

TEST(Validate, ANodeThatWasReadyStaysSoWhileKubeletsFigureFollowsOurs) {
  Board board = ReadyBoard(3);
  board.node = NodeWith(4);
  EXPECT_EQ(Validate(board, true, true, true).state, StageState::kReady);
  board.node = NodeWith(2);
  EXPECT_EQ(Validate(board, true, true, true).state, StageState::kReady);
  board.node = NodeWith(0);
  EXPECT_EQ(Validate(board, true, true, true).reason, "AllocatablePending");
}

TEST(Validate, WithTheDevicePluginOffNothingIsExpectedToBeAllocatable) {
  Board board = ReadyBoard(0);
  board.node = std::make_shared<OwnNode>();
  EXPECT_EQ(Validate(board, false, true, false).state, StageState::kReady);
}

}  // namespace
}  // namespace pawl::agent
