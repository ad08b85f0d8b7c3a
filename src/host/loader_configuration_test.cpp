#include "host/loader_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/temporary_folder.h"

namespace pawl::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

#if defined(__x86_64__)
constexpr const char* kDebianFolders =
    "/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n/lib\n/usr/lib\n";
constexpr const char* kOtherFolders = "/lib\n/usr/lib\n/lib64\n/usr/lib64\n/libx32\n/usr/libx32\n";
constexpr const char* kMuslFile = "/etc/ld-musl-x86_64.path";
#else
constexpr const char* kDebianFolders =
    "/lib/aarch64-linux-gnu\n/usr/lib/aarch64-linux-gnu\n/lib\n/usr/lib\n";
constexpr const char* kOtherFolders = "/lib\n/usr/lib\n/lib64\n/usr/lib64\n";
constexpr const char* kMuslFile = "/etc/ld-musl-aarch64.path";
#endif

class LoaderConfiguration : public testing::Test {
 protected:
  LoaderConfiguration() : root_(std::move(*ContainerRoot::Open(folder_.path()))) {}

  void Write(const std::vector<std::string>& folders) {
    const Status written = WriteLoaderConfiguration(root_, folders);
    ASSERT_TRUE(written) << written.error().message();
  }
  std::string Content(const std::string& path) {
    return ReadFile(folder_.path() + path).value_or("(missing)");
  }
  std::string Driver() { return Content(std::string("/etc/ld.so.conf.d/") + kDriverConf); }
  std::string System() { return Content(std::string("/etc/ld.so.conf.d/") + kSystemConf); }

  TemporaryFolder folder_;
  ContainerRoot root_;
};

// spec/container-toolkit.md vector 51
TEST_F(LoaderConfiguration, OfADebianImage) {
  folder_.Write("/etc/debian_version", "12");
  Write({"/opt/l"});
  EXPECT_EQ(Content("/etc/ld.so.conf"), "include /etc/ld.so.conf.d/*.conf\n");
  EXPECT_EQ(Driver(), "/opt/l\n");
  EXPECT_EQ(System(), kDebianFolders);
}

TEST_F(LoaderConfiguration, OfAnyOtherImage) {
  Write({"/opt/l"});
  EXPECT_EQ(Driver(), "/opt/l\n");
  EXPECT_EQ(System(), kOtherFolders);
}

TEST_F(LoaderConfiguration, FoldersThatTheImageListsStayWhereItHasThem) {
  folder_.Write("/etc/ld.so.conf", "include ld.so.conf.d/*.conf  # all\n/opt/b/\n");
  folder_.Write("/etc/ld.so.conf.d/cuda.conf", "# CUDA\n/opt/a\n");
  folder_.Write("/etc/ld.so.conf.d/other.txt", "/opt/c\n");
  Write({"/opt/a", "/opt/b", "/opt/c", "/opt/c"});
  EXPECT_EQ(Driver(), "/opt/c\n");
  EXPECT_THAT(ConfiguredFolders(root_), ElementsAre("/opt/a", "/opt/b"));
}

TEST_F(LoaderConfiguration, AnImageWithoutTheIncludeLineGetsIt) {
  folder_.Write("/etc/ld.so.conf", "/opt/b");
  Write({"/opt/a"});
  EXPECT_EQ(Content("/etc/ld.so.conf"), "/opt/b\ninclude /etc/ld.so.conf.d/*.conf\n");
  Write({"/opt/a"});
  EXPECT_EQ(Content("/etc/ld.so.conf"), "/opt/b\ninclude /etc/ld.so.conf.d/*.conf\n");
}

TEST_F(LoaderConfiguration, WritingAgainLeavesNoMoreFiles) {
  Write({"/opt/a"});
  const std::vector<std::string> before = *ListFolder(folder_.path() + "/etc/ld.so.conf.d");
  Write({"/opt/a"});
  EXPECT_EQ(Driver(), "/opt/a\n");
  EXPECT_EQ(*ListFolder(folder_.path() + "/etc/ld.so.conf.d"), before);
  Write({});
  EXPECT_EQ(Driver(), "(missing)");
}

TEST_F(LoaderConfiguration, AlpineGetsMuslsPathFileToo) {
  folder_.Write("/etc/alpine-release", "3.19");
  Write({"/opt/a"});
  EXPECT_THAT(Content(kMuslFile), HasSubstr("/usr/local/lib\n"));
  EXPECT_THAT(Content(kMuslFile), HasSubstr("/opt/a\n"));
  const std::string once = Content(kMuslFile);
  Write({"/opt/a"});
  EXPECT_EQ(Content(kMuslFile), once);
}

TEST_F(LoaderConfiguration, AnExistingMuslFileKeepsItsLines) {
  folder_.Write("/etc/alpine-release", "3.19");
  folder_.Write(kMuslFile, "/mine:/other");
  Write({"/other", "/opt/a"});
  EXPECT_THAT(Content(kMuslFile), testing::StartsWith("/mine:/other\n/opt/a\n"));
}

TEST_F(LoaderConfiguration, FoldersThatWouldChangeTheFilesMeaningAreRefused) {
  for (const char* bad : {"relative", "", "/a\n/b", "/a b", "/a#", "/a=libc6"}) {
    EXPECT_FALSE(WriteLoaderConfiguration(root_, {bad})) << bad;
  }
}

TEST_F(LoaderConfiguration, CirclesOfIncludesEnd) {
  folder_.Write("/etc/ld.so.conf", "include /etc/ld.so.conf\ninclude /etc/ld.so.conf.d/*.conf\n");
  Write({"/opt/a"});
  EXPECT_EQ(Driver(), "/opt/a\n");
}

TEST_F(LoaderConfiguration, LinksOfTheImageAreFollowedInsideItAndFilesAreNotWrittenThrough) {
  const TemporaryFolder outside;
  outside.Write("conf.d/x", "");
  ASSERT_EQ(
      symlink((outside.path() + "/conf.d").c_str(), folder_.Path("/etc/ld.so.conf.d").c_str()), 0);
  EXPECT_FALSE(WriteLoaderConfiguration(root_, {"/opt/a"}));  // leads to nowhere in the image
  EXPECT_EQ(*ListFolder(outside.path() + "/conf.d"), std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace pawl::host
