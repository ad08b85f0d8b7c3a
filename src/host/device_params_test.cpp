#include "host/device_params.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "host/test_namespace.h"

namespace pawl::host {
namespace {

// spec/container-toolkit.md vector 34
TEST(DeviceParams, OnlyTheExactLineIsChanged) {
  EXPECT_EQ(WithoutModification("A: 1\nModifyDeviceFiles: 1\nB: 2\n"),
            "A: 1\nModifyDeviceFiles: 0\nB: 2\n");
  EXPECT_EQ(WithoutModification(" ModifyDeviceFiles: 1\n"), std::nullopt);
  EXPECT_EQ(WithoutModification("ModifyDeviceFiles: 11\n"), std::nullopt);
  EXPECT_EQ(WithoutModification("ModifyDeviceFiles: 0\n"), std::nullopt);
  EXPECT_EQ(WithoutModification(""), std::nullopt);
}

class ParamsOfAContainer : public testing::Test {
 protected:
  ParamsOfAContainer()
      : host_params_(folder_.Write("host-params", "ModifyDeviceFiles: 1\nX: 2\n")) {
    folder_.Path("root/x");
  }

  // The root is opened in the mount namespace that it is used in.
  Status Disable(const std::string& host_params) {
    const Result<ContainerRoot> root = ContainerRoot::Open(folder_.path() + "/root");
    if (!root) return Fail(root.error());
    return DisableDeviceNodeModification(*root, host_params);
  }
  Status Disable() { return Disable(host_params_); }

  TemporaryFolder folder_;
  std::string host_params_;
};

TEST_F(ParamsOfAContainer, AreReplacedByAReadOnlyCopyAndNothingElseIsLeft) {
  const std::string inside = folder_.Write("root/proc/driver/nvidia/params", "original\n");
  EXPECT_EQ(InNewMountNamespace([&] {
              if (!Disable()) return 1;
              if (ReadFile(inside).value_or("") != "ModifyDeviceFiles: 0\nX: 2\n") return 2;
              std::ofstream out(inside);
              if (out.is_open()) return 3;  // not even for root
              const Result<std::vector<std::string>> left =
                  ListFolder(folder_.path() + "/root/run");
              return left && left->empty() ? 0 : 4;
            }),
            0);
  EXPECT_EQ(*ReadFile(inside), "original\n");  // the mount was the container's own
}

TEST_F(ParamsOfAContainer, ThatAreALinkAreFollowedInsideTheRoot) {
  folder_.Write("params", "outside\n");
  folder_.Write("root/params", "inside\n");
  folder_.Path("root/proc/driver/nvidia/x");
  ASSERT_EQ(symlink("../../../../params", folder_.Path("root/proc/driver/nvidia/params").c_str()),
            0);
  EXPECT_EQ(InNewMountNamespace([&] {
              if (!Disable()) return 1;
              if (ReadFile(folder_.path() + "/params").value_or("") != "outside\n") return 2;
              const std::string inside = ReadFile(folder_.path() + "/root/params").value_or("");
              return inside == "ModifyDeviceFiles: 0\nX: 2\n" ? 0 : 3;
            }),
            0);
}

TEST_F(ParamsOfAContainer, ThatAreMissingAreNoWork) { EXPECT_TRUE(Disable()); }

TEST_F(ParamsOfAContainer, NothingIsDoneWithoutADriver) {
  folder_.Write("root/proc/driver/nvidia/params", "original\n");
  EXPECT_TRUE(Disable(folder_.path() + "/no-such-file"));
}

}  // namespace
}  // namespace pawl::host
