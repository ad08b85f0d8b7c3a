#include "scout/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace pawl::scout {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class Machine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "scout-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(std::string_view path, std::string_view content) {
    const std::string whole = Under(root_, path);
    ASSERT_TRUE(MakeFolders(whole.substr(0, whole.rfind('/'))));
    ASSERT_TRUE(WriteFileAtomic(whole, content));
  }

  void AddT4() {
    const std::string folder = "/sys/bus/pci/devices/0000:3b:00.0/";
    Write(folder + "class", "0x030200\n");
    Write(folder + "vendor", "0x10de\n");
    Write(folder + "device", "0x1eb8\n");
    Write(folder + "subsystem_vendor", "0x10de\n");
    Write(folder + "subsystem_device", "0x12a2\n");
  }

  Labels Read() {
    problems_.clear();
    return WantedLabels(ReadSources(root_, root_, problems_), OwnNode());
  }

  std::string root_;
  std::vector<std::string> problems_;
};

TEST_F(Machine, WithAGpuHasTheLabelsTheOperatorReads) {
  AddT4();
  Write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  Write("/usr/lib/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
  ASSERT_TRUE(MakeFolders(Under(root_, "/etc")));
  std::filesystem::create_symlink("../usr/lib/os-release", Under(root_, "/etc/os-release"));
  const Labels labels = Read();
  EXPECT_THAT(labels, Contains(Pair("feature.node.kubernetes.io/pci-10de.present", "true")));
  EXPECT_THAT(labels,
              Contains(Pair("feature.node.kubernetes.io/kernel-version.full", "6.1.0-18-amd64")));
  EXPECT_THAT(labels, Contains(Pair("feature.node.kubernetes.io/system-os_release.ID", "debian")));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Machine, ThatHidesItsReleaseSaysSoAndStillShowsTheRest) {
  AddT4();
  Write("/proc/sys/kernel/osrelease", "6.1.0\n");
  EXPECT_THAT(Read(), Contains(Pair("feature.node.kubernetes.io/pci-10de.present", "true")));
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("/etc/os-release")));
}

}  // namespace
}  // namespace pawl::scout
