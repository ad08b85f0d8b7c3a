#include "host/container_state.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace pawl::host {
namespace {

TEST(ContainerState, TheStatesOwnRootIsTaken) {
  EXPECT_EQ(*RootOfState(R"({"bundle":"/b","root":"/r"})"), "/r");
  EXPECT_EQ(*RootOfState(R"({"bundle":"/b","root":"r"})"), "/b/r");
}

TEST(ContainerState, OtherwiseTheBundleNamesTheRoot) {
  const TemporaryFolder folder;
  folder.Write("config.json", R"({"root":{"path":"rootfs"}})");
  const std::string state = R"({"bundle":")" + folder.path() + R"("})";
  EXPECT_EQ(*RootOfState(state), folder.path() + "/rootfs");
  folder.Write("config.json", R"({"root":{"path":"/abs"}})");
  EXPECT_EQ(*RootOfState(state), "/abs");
}

TEST(ContainerState, WhatMakesNoSenseIsAnError) {
  const TemporaryFolder folder;
  for (const std::string bad : {"", "[]", "{}", R"({"bundle":"relative"})", R"({"root":"r"})",
                                R"({"bundle":"/does/not/exist"})"}) {
    EXPECT_FALSE(RootOfState(bad)) << bad;
  }
  folder.Write("config.json", R"({"root":{"path":7}})");
  EXPECT_FALSE(RootOfState(R"({"bundle":")" + folder.path() + R"("})"));
}

}  // namespace
}  // namespace pawl::host
