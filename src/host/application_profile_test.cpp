#include "host/application_profile.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include "base/temporary_folder.h"
#include "host/test_namespace.h"

namespace pawl::host {
namespace {

constexpr const char* kFile = "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf";

// spec/container-toolkit.md vector 35
TEST(ApplicationProfile, HasOneBitForEveryMinor) {
  std::vector<uint64_t> dropped;
  EXPECT_EQ(ApplicationProfile(MinorMask({0, 15}, dropped)),
            "{\"profiles\":[{\"name\":\"_container_\",\"settings\":[\"EGLVisibleDGPUDevices\","
            "0x8001]}],\"rules\":[{\"pattern\":[],\"profile\":\"_container_\"}]}\n");
  EXPECT_TRUE(dropped.empty());
}

// spec/container-toolkit.md vector 52
TEST(ApplicationProfile, MinorsThatDoNotFitAreDropped) {
  std::vector<uint64_t> dropped;
  EXPECT_EQ(MinorMask({63, 64}, dropped), 0x8000000000000000U);
  EXPECT_EQ(dropped, std::vector<uint64_t>{64});
}

TEST(ApplicationProfile, CountsTheCharacterDevicesOfTheContainer) {
  const TemporaryFolder folder;
  folder.Write("dev/nvidia7", "no device");
  folder.Write("dev/nvidia0", "");  // below, /dev/null is bound here: a device with minor 3
  folder.Write("dev/nvidiactl", "");
  EXPECT_EQ(InNewMountNamespace([&] {
              if (mount("/dev/null", (folder.path() + "/dev/nvidia0").c_str(), nullptr, MS_BIND,
                        nullptr) != 0) {
                return 1;
              }
              const Result<ContainerRoot> root = ContainerRoot::Open(folder.path());
              return root && UpdateApplicationProfile(*root) ? 0 : 2;
            }),
            0);
  EXPECT_EQ(ReadFile(folder.path() + kFile).value_or(""), ApplicationProfile(0x8));
}

TEST(ApplicationProfile, WithoutDevicesNothingIsWritten) {
  const TemporaryFolder folder;
  const ContainerRoot root = std::move(*ContainerRoot::Open(folder.path()));
  EXPECT_TRUE(UpdateApplicationProfile(root));
  EXPECT_FALSE(Exists(folder.path() + "/etc"));
}

}  // namespace
}  // namespace pawl::host
