#include "host/container_root.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_folder.h"

namespace pawl::host {
namespace {

ino_t InodeOf(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

std::string TargetOf(const std::string& path) {
  std::string target(256, '\0');
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  target.resize(length < 0 ? 0 : static_cast<size_t>(length));
  return target;
}

// Both ways of looking up must agree.
class Lookups : public testing::TestWithParam<Lookup> {
 protected:
  Lookups() : root_(Open()) {}

  ContainerRoot Open() {
    folder_.Write("/root/etc/name", "inside");
    folder_.Write("/outside/etc/name", "outside");
    folder_.Write("/secret", "outside");
    return std::move(*ContainerRoot::Open(folder_.Path("/root"), GetParam()));
  }
  std::string Inside(const std::string& path) { return folder_.path() + "/root" + path; }
  void Link(const std::string& target, const std::string& path) {
    ASSERT_EQ(symlink(target.c_str(), folder_.Path("/root" + path).c_str()), 0);
  }
  std::string Content(const std::string& path) {
    const Result<std::string> text = root_.ReadFile(path);
    return text ? *text : "error: " + text.error().message();
  }

  TemporaryFolder folder_;
  ContainerRoot root_;
};

INSTANTIATE_TEST_SUITE_P(ContainerRoot, Lookups, testing::Values(Lookup::kKernel, Lookup::kWalk),
                         [](const auto& lookup) {
                           return lookup.param == Lookup::kKernel ? "Kernel" : "Walk";
                         });

TEST_P(Lookups, APathIsThatOfTheContainer) {
  EXPECT_EQ(Content("/etc/name"), "inside");
  EXPECT_EQ(Content("etc/name"), "inside");
  EXPECT_EQ(Content("//etc/./name"), "inside");
}

TEST_P(Lookups, NothingLeadsOutOfTheRoot) {
  EXPECT_EQ(Content("/../../etc/name"), "inside");
  Link("/etc", "/absolute");
  EXPECT_EQ(Content("/absolute/name"), "inside");
  Link("../../../../../../etc", "/climbing");
  EXPECT_EQ(Content("/climbing/name"), "inside");
  Link("../secret", "/over");
  EXPECT_EQ(root_.ReadFile("/over").error().kind(), ErrorKind::kNotFound);
  Link(folder_.path() + "/secret", "/host");
  EXPECT_EQ(root_.ReadFile("/host").error().kind(), ErrorKind::kNotFound);
}

TEST_P(Lookups, CirclesAndFilesInTheMiddleAreErrors) {
  Link("b", "/a");
  Link("a", "/b");
  EXPECT_FALSE(root_.OpenFolder("/a"));
  EXPECT_FALSE(root_.OpenFolder("/etc/name/x"));
  EXPECT_FALSE(root_.OpenFolder("/etc/name"));
}

TEST_P(Lookups, TheRootItselfCanBeOpened) {
  for (const char* path : {"/", "", ".", "/.."}) {
    const Result<FileDescriptor> folder = root_.OpenFolder(path);
    ASSERT_TRUE(folder) << path << ": " << folder.error().message();
    struct stat info {};
    ASSERT_EQ(fstat(folder->get(), &info), 0);
    EXPECT_EQ(info.st_ino, InodeOf(Inside("/")));
  }
}

TEST_P(Lookups, MissingFoldersAreMadeWhereLinksLeadInsideTheRoot) {
  Link("/etc", "/link");
  ASSERT_TRUE(root_.MakeFolders("/link/a/b"));
  EXPECT_TRUE(IsDirectory(Inside("/etc/a/b")));
  Link("../../../up", "/etc/out");
  EXPECT_FALSE(root_.MakeFolders("/etc/out/x"));  // a link to nowhere
  EXPECT_FALSE(Exists(folder_.path() + "/up"));
  EXPECT_FALSE(Exists(Inside("/up")));
  EXPECT_FALSE(root_.MakeFolders("/etc/name/x"));  // a file
}

TEST_P(Lookups, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(Inside("/etc/pipe").c_str(), 0600), 0);
  EXPECT_EQ(root_.ReadFile("/etc/pipe").error().kind(), ErrorKind::kInvalid);
}

TEST_P(Lookups, AFileThatIsTooLargeIsRefused) {
  EXPECT_EQ(root_.ReadFile("/etc/name", 3).error().kind(), ErrorKind::kInvalid);
}

TEST_P(Lookups, ResolvingNamesTheRealPath) {
  folder_.Path("/root/usr/local/cuda-12.8/compat/x");
  Link("/etc/alternatives/cuda", "/usr/local/cuda");
  Link("../../usr/local/cuda-12.8", "/etc/alternatives/cuda");
  EXPECT_EQ(*root_.Resolve("/usr/local/cuda/compat"), "/usr/local/cuda-12.8/compat");
  EXPECT_EQ(*root_.Resolve("/"), "/");
}

class InFolder : public testing::Test {
 protected:
  InFolder() : handle_(open(folder_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  std::string At(const std::string& name) { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
  FileDescriptor handle_;
};

TEST_F(InFolder, ReplacingAFileNeverWritesThroughALink) {
  folder_.Write("target", "untouched");
  ASSERT_EQ(symlink("target", At("name").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(handle_.get(), "name", "new", 0444));
  EXPECT_EQ(*ReadFile(At("target")), "untouched");
  EXPECT_EQ(*ReadFile(At("name")), "new");
  struct stat info {};
  ASSERT_EQ(lstat(At("name").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0444U);
}

TEST_F(InFolder, AnEqualFileStays) {
  ASSERT_TRUE(ReplaceFile(handle_.get(), "name", "same", 0644));
  const ino_t before = InodeOf(At("name"));
  ASSERT_TRUE(ReplaceFile(handle_.get(), "name", "same", 0644));
  EXPECT_EQ(InodeOf(At("name")), before);
  ASSERT_TRUE(ReplaceFile(handle_.get(), "name", "else", 0644));
  EXPECT_EQ(*ReadFile(At("name")), "else");
}

TEST_F(InFolder, AnEqualLinkStaysAndAnotherIsReplaced) {
  ASSERT_TRUE(ReplaceLink(handle_.get(), "link", "a"));
  const ino_t before = InodeOf(At("link"));
  ASSERT_TRUE(ReplaceLink(handle_.get(), "link", "a"));
  EXPECT_EQ(InodeOf(At("link")), before);
  ASSERT_TRUE(ReplaceLink(handle_.get(), "link", "ab"));
  EXPECT_EQ(TargetOf(At("link")), "ab");
  ASSERT_TRUE(ReplaceLink(handle_.get(), "link", "a"));
  EXPECT_EQ(TargetOf(At("link")), "a");
}

TEST_F(InFolder, WhatFailsLeavesNoTemporaryName) {
  ASSERT_EQ(mkdir(At("taken").c_str(), 0755), 0);
  EXPECT_FALSE(ReplaceFile(handle_.get(), "taken", "x", 0644));
  EXPECT_FALSE(ReplaceLink(handle_.get(), "taken", "x"));
  EXPECT_EQ(*NamesIn(handle_.get()), std::vector<std::string>{"taken"});
}

}  // namespace
}  // namespace pawl::host
