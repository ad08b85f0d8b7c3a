#include "agent/toolkit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_folder.h"

namespace pawl::agent {
namespace {

TEST(InstallToolkit, PutsTheProgramThereUnderAllItsNames) {
  const TemporaryFolder folder;
  const std::string program = folder.Write("image/pawl-runtime", "program");
  const std::string install = folder.path() + "/usr/local/nvidia";
  const Result<Written> written = InstallToolkit(program, install);
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(*written, Written::kChanged);
  for (const std::string& name : ToolkitNames()) {
    EXPECT_EQ(ReadFile(install + "/toolkit/" + name).value_or(""), "program") << name;
  }
  struct stat found {};
  ASSERT_EQ(stat(ToolkitIn(install).hook_path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0755U);
}

TEST(InstallToolkit, ASecondTimeChangesNothing) {
  const TemporaryFolder folder;
  const std::string program = folder.Write("pawl-runtime", "program");
  ASSERT_TRUE(InstallToolkit(program, folder.path()));
  EXPECT_EQ(InstallToolkit(program, folder.path()).value_or(Written::kChanged),
            Written::kUnchanged);
}

TEST(InstallToolkit, ReplacesAnOlderProgramAndAnotherToolkitsFiles) {
  const TemporaryFolder folder;
  folder.Write("toolkit/pawl-runtime", "old");
  folder.Write("toolkit/nvidia-cdi-hook", "another toolkit's");
  const std::string program = folder.Write("pawl-runtime", "program");
  EXPECT_EQ(InstallToolkit(program, folder.path()).value_or(Written::kUnchanged),
            Written::kChanged);
  EXPECT_EQ(ReadFile(ToolkitIn(folder.path()).hook_path).value_or(""), "program");
  EXPECT_TRUE(std::filesystem::is_symlink(ToolkitIn(folder.path()).hook_path));
}

TEST(InstallToolkit, SaysWhichProgramIsMissing) {
  const TemporaryFolder folder;
  const Result<Written> written = InstallToolkit("/nowhere/pawl-runtime", folder.path());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("/nowhere/pawl-runtime"), std::string::npos);
}

}  // namespace
}  // namespace pawl::agent
