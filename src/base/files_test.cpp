#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_folder.h"

namespace pawl {
namespace {

TEST(Files, UnderJoinsWithoutDoubleSlashes) {
  EXPECT_EQ(Under("/", "/etc/x"), "/etc/x");
  EXPECT_EQ(Under("/host", "/etc/x"), "/host/etc/x");
  EXPECT_EQ(Under("/host/", "etc/x"), "/host/etc/x");
  EXPECT_EQ(Under("/host", "/"), "/host");
  EXPECT_EQ(Under("/", "/"), "/");
}

TEST(Files, WriteFileAtomicReportsWhetherAnythingChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("a");
  EXPECT_EQ(WriteFileAtomic(path, "one").value(), Written::kChanged);
  EXPECT_EQ(WriteFileAtomic(path, "one").value(), Written::kUnchanged);
  EXPECT_EQ(WriteFileAtomic(path, "two").value(), Written::kChanged);
  EXPECT_EQ(WriteFileAtomic(path, "two", 0600).value(), Written::kChanged) << "the mode differs";
  EXPECT_EQ(ReadFile(path).value(), "two");
  EXPECT_EQ(ListFolder(folder.path()).value(), std::vector<std::string>{"a"}) << "no litter";
}

TEST(Files, WriteFileAtomicReplacesASymbolicLinkInsteadOfFollowingIt) {
  const TemporaryFolder folder;
  const std::string target = folder.Write("target", "keep");
  const std::string link = folder.Path("link");
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(link, "new"));
  EXPECT_EQ(ReadFile(target).value(), "keep");
  EXPECT_EQ(ReadFile(link).value(), "new");
}

TEST(Files, ErrorsNameThePathAndTheCause) {
  const Result<std::string> missing = ReadFile("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().message(), "reading /no/such/file: No such file or directory");
  const TemporaryFolder folder;
  EXPECT_EQ(ReadFile(folder.Write("big", std::string(100, 'x')), 10).error().kind(),
            ErrorKind::kInvalid);
}

TEST(Files, ReadFileReadsProcfsWhoseFilesHaveNoSize) {
  EXPECT_NE(ReadFile("/proc/self/status").value().find("Name:"), std::string::npos);
}

TEST(Files, ResolveUnderKeepsAbsoluteLinksInsideTheRoot) {
  const TemporaryFolder folder;
  folder.Write("usr/lib/libx.so.1", "");
  ASSERT_EQ(symlink("/usr/lib", folder.Path("lib").c_str()), 0);
  ASSERT_EQ(symlink("../../../../usr/lib/libx.so.1", folder.Path("usr/lib/libx.so").c_str()), 0);
  EXPECT_EQ(ResolveUnder(folder.path(), "/lib/libx.so").value(),
            folder.path() + "/usr/lib/libx.so.1");
}

TEST(Files, ResolveUnderGivesUpOnALoopOfLinks) {
  const TemporaryFolder folder;
  ASSERT_EQ(symlink("b", folder.Path("a").c_str()), 0);
  ASSERT_EQ(symlink("a", folder.Path("b").c_str()), 0);
  EXPECT_EQ(ResolveUnder(folder.path(), "/a").error().kind(), ErrorKind::kInvalid);
}

TEST(Files, MakeFoldersFailsWhereAFileIsInTheWay) {
  const TemporaryFolder folder;
  folder.Write("file", "");
  EXPECT_TRUE(MakeFolders(folder.path() + "/x/y/z"));
  EXPECT_TRUE(MakeFolders(folder.path() + "/x/y/z"));
  EXPECT_FALSE(MakeFolders(folder.path() + "/file/y"));
}

}  // namespace
}  // namespace pawl
