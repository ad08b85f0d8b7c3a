#include "agent/driver_root.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace pawl::agent {
namespace {

constexpr const char* kInstallDir = "/run/nvidia/driver";

TEST(DriverRoot, AHostDriverWinsAndItsLinksAreFollowedInsideTheRoot) {
  const TemporaryFolder host;
  const std::string file =
      host.Write("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.163.01", "library");
  // An absolute link, as distributions make them, is meant inside the root.
  ASSERT_EQ(symlink("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.163.01",
                    host.Path("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1").c_str()),
            0);
  host.Write("run/nvidia/driver/usr/lib64/libnvidia-ml.so.1", "library");
  const auto found = FindDriverRoot(host.path(), kInstallDir);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->on_host);
  EXPECT_EQ(found->host, "/");
  EXPECT_EQ(found->view, host.path());
  EXPECT_EQ(found->library, file);
}

TEST(DriverRoot, OtherwiseTheDriverContainersRootIsTaken) {
  const TemporaryFolder host;
  host.Write("run/nvidia/driver/usr/lib64/libnvidia-ml.so.1", "library");
  const auto found = FindDriverRoot(host.path(), kInstallDir);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->on_host);
  EXPECT_EQ(found->host, kInstallDir);
  EXPECT_EQ(found->view, host.path() + kInstallDir);
  EXPECT_EQ(found->host_dev, "/");
  EXPECT_EQ(found->view_dev, host.path());
}

TEST(DriverRoot, WithoutALibraryThereIsNone) {
  const TemporaryFolder host;
  EXPECT_FALSE(FindDriverRoot(host.path(), kInstallDir));
  // A link that leads nowhere is no library.
  host.Write("usr/lib64/other", "");
  ASSERT_EQ(symlink("gone", host.Path("usr/lib64/libnvidia-ml.so.1").c_str()), 0);
  EXPECT_FALSE(FindDriverRoot(host.path(), kInstallDir));
}

TEST(DriverReady, Vector20AHostDriver) {
  const TemporaryFolder host;
  host.Write("usr/lib64/libnvidia-ml.so.1", "library");
  EXPECT_EQ(DriverReadyText(*FindDriverRoot(host.path(), kInstallDir)),
            "IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/\nDRIVER_ROOT_CTR_PATH=/host\n"
            "NVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n");
}

TEST(DriverReady, Vector21AContainersDriverWithAndWithoutItsOwnDev) {
  const TemporaryFolder host;
  host.Write("run/nvidia/driver/usr/lib64/libnvidia-ml.so.1", "library");
  EXPECT_EQ(DriverReadyText(*FindDriverRoot(host.path(), kInstallDir)),
            "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\n"
            "DRIVER_ROOT_CTR_PATH=/driver-root\nNVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n");
  ASSERT_TRUE(MakeFolders(host.Path("run/nvidia/driver/dev")));
  EXPECT_EQ(DriverReadyText(*FindDriverRoot(host.path(), kInstallDir)),
            "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\n"
            "DRIVER_ROOT_CTR_PATH=/driver-root\nNVIDIA_DEV_ROOT=/run/nvidia/driver\n"
            "DEV_ROOT_CTR_PATH=/driver-root\n");
}

}  // namespace
}  // namespace pawl::agent
