#include "host/create_symlinks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_folder.h"

namespace pawl::host {
namespace {

class Symlinks : public testing::Test {
 protected:
  Symlinks() : root_(std::move(*ContainerRoot::Open(folder_.path()))) {}

  Status Make(const std::vector<std::string>& links) { return CreateSymlinks(root_, links); }
  std::string TargetOf(const std::string& path) {
    std::string target(256, '\0');
    const ssize_t length =
        readlink(Under(folder_.path(), path).c_str(), target.data(), target.size());
    target.resize(length < 0 ? 0 : static_cast<size_t>(length));
    return target;
  }
  void Link(const std::string& target, const std::string& path) {
    ASSERT_EQ(symlink(target.c_str(), folder_.Path(path).c_str()), 0);
  }

  TemporaryFolder folder_;
  ContainerRoot root_;
};

TEST_F(Symlinks, FoldersAreMade) {
  ASSERT_TRUE(Make({"libcuda.so.1::/usr/lib/x/libcuda.so", "../a::b/c"}));
  EXPECT_EQ(TargetOf("/usr/lib/x/libcuda.so"), "libcuda.so.1");
  EXPECT_EQ(TargetOf("/b/c"), "../a");  // relative: from the root
}

// spec/container-toolkit.md vector 31
TEST_F(Symlinks, AFolderThatIsALinkIsFollowedInsideTheRoot) {
  Link("../../", "/lib/foo");
  ASSERT_TRUE(Make({"libfoo.so.1::/lib/foo/libfoo.so"}));
  EXPECT_EQ(TargetOf("/libfoo.so"), "libfoo.so.1");
}

// spec/container-toolkit.md vector 49
TEST_F(Symlinks, AFileIsReplacedAndAFolderIsAnError) {
  folder_.Write("/lib/d", "a file");
  ASSERT_TRUE(Make({"new::/lib/d"}));
  EXPECT_EQ(TargetOf("/lib/d"), "new");
  folder_.Path("/lib/folder/x");
  EXPECT_FALSE(Make({"new::/lib/folder"}));
}

TEST_F(Symlinks, MalformedWishesAreErrors) {
  for (const char* bad : {"a", "a::b::c", "", "::/x", "a::", "a::/", "a::/x/..", "a::."}) {
    EXPECT_FALSE(Make({bad})) << bad;
  }
}

TEST_F(Symlinks, AFolderThatIsALinkToNowhereIsAnError) {
  Link("/nowhere", "/lib");
  EXPECT_FALSE(Make({"a::/lib/b"}));
  EXPECT_FALSE(Exists(folder_.path() + "/nowhere"));
}

TEST_F(Symlinks, TheTargetIsOnlyText) {
  ASSERT_TRUE(Make({"/etc/passwd::/x", "../../../../etc/shadow::/y"}));
  EXPECT_EQ(TargetOf("/x"), "/etc/passwd");
  EXPECT_EQ(TargetOf("/y"), "../../../../etc/shadow");
  ASSERT_TRUE(Make({"other::/x"}));  // replaced, not followed
  EXPECT_EQ(TargetOf("/x"), "other");
}

}  // namespace
}  // namespace pawl::host
