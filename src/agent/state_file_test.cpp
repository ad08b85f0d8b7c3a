#include "agent/state_file.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace pawl::agent {
namespace {

TEST(StateFile, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  ASSERT_TRUE(MakeFolders(folder.Path("pawl")));
  AgentState state;
  state.node_name = "n1";
  state.boot_id = "b";
  state.updated = "2026-01-02T03:04:05Z";
  state.was_ready = true;
  state.chain.At("driver") = {"driver", StageState::kFailed, "NvmlHung", "init did not answer"};
  gpu::Gpu gpu;
  gpu.uuid = "GPU-a";
  gpu.name = "Tesla T4";
  gpu.problem = "NvmlHung: …";
  state.snapshot.gpus.push_back(gpu);
  ASSERT_TRUE(WriteState(folder.path(), state));
  const Result<AgentState> read = ReadState(folder.path());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->node_name, "n1");
  EXPECT_EQ(read->boot_id, "b");
  EXPECT_TRUE(read->was_ready);
  EXPECT_EQ(read->chain, state.chain);
  ASSERT_EQ(read->snapshot.gpus.size(), 1U);
  EXPECT_EQ(read->snapshot.gpus[0].problem, "NvmlHung: …");
}

TEST(StateFile, ABrokenFileIsSaidAndAMissingOneIsNotFound) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadState(folder.path()).error().kind(), ErrorKind::kNotFound);
  for (const char* text :
       {"", "{", "{}", R"({"chain":[],"gpus":3})", R"({"chain":{},"gpus":{}})"}) {
    folder.Write("pawl/state.json", text);
    const Result<AgentState> read = ReadState(folder.path());
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message().find("state.json"), std::string::npos);
  }
}

TEST(AgentLock, OnlyOneAgentHasItAndOthersSeeThatItLives) {
  const TemporaryFolder folder;
  EXPECT_FALSE(AgentIsAlive(folder.path()));
  Result<FileDescriptor> lock = TakeAgentLock(folder.path());
  ASSERT_TRUE(lock);
  EXPECT_TRUE(AgentIsAlive(folder.path()));
  EXPECT_EQ(TakeAgentLock(folder.path()).error().kind(), ErrorKind::kUnavailable);
  lock->Close();
  EXPECT_FALSE(AgentIsAlive(folder.path()));
}

}  // namespace
}  // namespace pawl::agent
