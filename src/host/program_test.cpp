// The built program, run as a container runtime runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/text.h"

namespace pawl::host {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// It stands beside this test.
std::string ProgramPath() {
  std::string self(PATH_MAX, '\0');
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length < 0 ? 0 : static_cast<size_t>(length));
  return self.substr(0, self.rfind('/') + 1) + "pawl-runtime";
}

std::string PathOfLibm() {
  for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6",
                           "/lib64/libm.so.6", "/usr/lib/libm.so.6"}) {
    if (Exists(path)) return path;
  }
  return {};
}

class Program : public testing::Test {
 protected:
  Program() {
    folder_.Write("bundle/config.json", R"({"root":{"path":"rootfs"}})");
    folder_.Write("state.json", R"({"bundle":")" + folder_.path() + R"(/bundle","pid":1})");
    folder_.Path("bundle/rootfs/x");
    for (const char* name : {"pawl-runtime", "nvidia-cdi-hook", "nvidia-ctk"}) {
      EXPECT_EQ(symlink(ProgramPath().c_str(), folder_.Path(name).c_str()), 0);
    }
  }

  // The exit status; what was printed is in `output_`. As root of a user namespace where we are no
  // root.
  int Run(const std::string& command) {
    const std::string prefix = geteuid() == 0 ? "" : "unshare --user --map-root-user --mount ";
    const std::string line = "cd " + folder_.path() + " && " + prefix + "./" + command +
                             (command.find('<') == std::string::npos ? " < state.json" : "") +
                             " > output 2>&1";
    const int status = std::system(line.c_str());
    output_ = ReadFile(folder_.path() + "/output").value_or("");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string Root(const std::string& path) { return folder_.path() + "/bundle/rootfs" + path; }
  std::string LinkTarget(const std::string& path) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length = readlink(Root(path).c_str(), target.data(), target.size());
    target.resize(length < 0 ? 0 : static_cast<size_t>(length));
    return target;
  }
  // A real library under a name of its own, for ldconfig.
  void Library(const std::string& path) {
    const Result<std::string> library = ReadFile(PathOfLibm());
    ASSERT_TRUE(library) << library.error().message();
    folder_.Write("bundle/rootfs" + path, *library);
  }

  TemporaryFolder folder_;
  std::string output_;
};

TEST_F(Program, GoesByItsNames) {
  for (const char* command :
       {"nvidia-cdi-hook create-symlinks", "nvidia-cdi-hook hook create-symlinks",
        "nvidia-ctk hook create-symlinks", "nvidia-ctk --debug hook create-symlinks",
        "pawl-runtime hook create-symlinks"}) {
    ASSERT_TRUE(RemoveFile(Root("/lib/l")));
    EXPECT_EQ(Run(std::string(command) + " --link t::/lib/l"), 0) << output_;
    EXPECT_EQ(LinkTarget("/lib/l"), "t") << command;
  }
}

TEST_F(Program, SaysItsVersion) {
  EXPECT_EQ(Run("nvidia-cdi-hook --version"), 0);
  EXPECT_THAT(output_, StartsWith("nvidia-cdi-hook version "));
}

TEST_F(Program, AHookThatIsUnknownIsAWarning) {
  EXPECT_EQ(Run("nvidia-cdi-hook chmod --mode 755 --path /dev"), 0);
  EXPECT_THAT(output_, HasSubstr("unknown hook \"chmod\""));
  EXPECT_EQ(Run("nvidia-cdi-hook"), 0);
  EXPECT_EQ(Run("nvidia-ctk hook"), 0);
}

TEST_F(Program, ABadFlagOfAKnownHookIsAnError) {
  EXPECT_EQ(Run("nvidia-cdi-hook create-symlinks --lnk a::b"), 1);
  EXPECT_THAT(output_, HasSubstr("create-symlinks: unknown flag --lnk"));
  EXPECT_EQ(Run("nvidia-cdi-hook create-symlinks --link"), 1);
  EXPECT_EQ(Run("nvidia-cdi-hook create-symlinks a::b"), 1);
  EXPECT_EQ(Run("nvidia-ctk cdi generate"), 1);
}

TEST_F(Program, AStateThatMakesNoSenseIsAnError) {
  EXPECT_EQ(Run("nvidia-cdi-hook create-symlinks < /dev/null"), 1);
  EXPECT_THAT(output_, HasSubstr("the container's state"));
}

TEST_F(Program, TheStateMayBeAFile) {
  EXPECT_EQ(Run("nvidia-cdi-hook create-symlinks --container-spec state.json --link=t::/l "
                "< /dev/null"),
            0)
      << output_;
  EXPECT_EQ(LinkTarget("/l"), "t");
}

TEST_F(Program, TheLoadersCacheListsTheDriversLibraries) {
  Library("/opt/driver/libm.so.6.1");
  EXPECT_EQ(Run("nvidia-cdi-hook update-ldcache --folder /opt/driver"), 0) << output_;
  const Result<std::string> cache = ReadFile(Root("/etc/ld.so.cache"));
  ASSERT_TRUE(cache) << cache.error().message();
  EXPECT_THAT(*cache, HasSubstr("/opt/driver/libm.so.6"));
  EXPECT_EQ(LinkTarget("/opt/driver/libm.so.6"), "libm.so.6.1");
  EXPECT_EQ(*ReadFile(Root("/etc/ld.so.conf.d/00-nvcr-pawl.conf")), "/opt/driver\n");
}

TEST_F(Program, UpdatingTheCacheAgainLeavesTheSameFiles) {
  Library("/opt/driver/libm.so.6.1");
  ASSERT_EQ(Run("nvidia-cdi-hook update-ldcache --folder /opt/driver"), 0) << output_;
  const std::vector<std::string> before = *ListFolder(Root("/etc/ld.so.conf.d"));
  ASSERT_EQ(Run("nvidia-cdi-hook update-ldcache --folder /opt/driver"), 0) << output_;
  EXPECT_EQ(*ListFolder(Root("/etc/ld.so.conf.d")), before);
}

// The image's links lead to the same path on the host; nothing there may change.
TEST_F(Program, LinksOfTheImageDoNotLeadTheCacheToTheHost) {
  folder_.Write("host/etc/ld.so.conf", "host's\n");
  folder_.Path("host/run/x");
  ASSERT_EQ(symlink((folder_.path() + "/host/etc").c_str(), Root("/etc").c_str()), 0);
  ASSERT_EQ(symlink((folder_.path() + "/host/run").c_str(), Root("/run").c_str()), 0);
  ASSERT_EQ(symlink((folder_.path() + "/host").c_str(), Root("/proc").c_str()), 0);
  EXPECT_EQ(Run("nvidia-cdi-hook update-ldcache --folder /opt/driver"), 1);  // /etc leads nowhere
  EXPECT_EQ(*ListFolder(folder_.path() + "/host/etc"), std::vector<std::string>{"ld.so.conf"});
  EXPECT_EQ(*ReadFile(folder_.path() + "/host/etc/ld.so.conf"), "host's\n");
}

TEST_F(Program, TheHostsOwnRootIsRefused) {
  folder_.Write("state.json", R"({"bundle":"/","root":"/"})");
  EXPECT_EQ(Run("nvidia-cdi-hook update-ldcache --folder /opt/driver"), 1);
  EXPECT_THAT(output_, HasSubstr("must not be the host's /"));
}

TEST_F(Program, AnLdconfigThatIsMissingOrAScriptIsAnError) {
  EXPECT_EQ(Run("nvidia-cdi-hook update-ldcache --ldconfig-path /no/such --folder /a"), 1);
  const std::string script = folder_.Write("script", "#!/bin/sh\n");
  EXPECT_EQ(Run("nvidia-cdi-hook update-ldcache --ldconfig-path @" + script + " --folder /a"), 1);
  EXPECT_THAT(output_, HasSubstr("found a script"));
  EXPECT_FALSE(Exists(Root("/etc")));
}

TEST_F(Program, TheImagesOwnLdconfigIsNeverRun) {
  Library("/opt/driver/libm.so.6.1");
  const std::string trap = folder_.Write("bundle/rootfs/sbin/ldconfig", "#!/bin/sh\ntouch /trap\n");
  ASSERT_EQ(chmod(trap.c_str(), 0755), 0);
  EXPECT_EQ(Run("nvidia-cdi-hook update-ldcache --folder /opt/driver"), 0) << output_;
  EXPECT_FALSE(Exists(Root("/trap")));
  EXPECT_TRUE(Exists(Root("/etc/ld.so.cache")));
}

TEST_F(Program, TheOtherHooksAreReached) {
  for (const char* hook : {"enable-cuda-compat --host-driver-version=550.1.2",
                           "disable-device-node-modification", "update-application-profile"}) {
    EXPECT_EQ(Run(std::string("nvidia-cdi-hook ") + hook), 0) << output_;
    EXPECT_THAT(output_, Not(HasSubstr("unknown hook")));
  }
}

}  // namespace
}  // namespace pawl::host
