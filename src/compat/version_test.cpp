#include "compat/version.h"

#include <gtest/gtest.h>

#include "compat/testing.h"

namespace pawl::compat {

namespace {

TEST(Version, ComparesFieldByFieldAsNumbers) {  // spec/compat.md, vector 1
  EXPECT_LT(VersionOf("535.104.05"), VersionOf("535.161.07"));
  EXPECT_LT(VersionOf("570.86.15"), VersionOf("570.124.06"));
  EXPECT_GT(VersionOf("580.142"), VersionOf("580.126.20"));
  EXPECT_EQ(VersionOf("580.95"), VersionOf("580.95.0"));
}

TEST(Version, RefusesWhatIsNotNumbersBetweenDots) {
  for (const std::string_view text :
       {"", ".", "580.", ".580", "5x", "1.2.3.4.5", "580 ", "-1", "99999999999"}) {
    EXPECT_FALSE(ParseVersion(text)) << text;
  }
}

TEST(Version, PackagingSuffixesAreStripped) {
  EXPECT_EQ(WithoutPackaging("570.86.15-0ubuntu1"), "570.86.15");
  EXPECT_EQ(WithoutPackaging("535.161.08-grid"), "535.161.08");
  EXPECT_EQ(BranchOf("580.126.20"), "580");
}

TEST(Version, APrefixCoversItsPatchesOnly) {
  EXPECT_TRUE(Covers("2.18", "2.18.1"));
  EXPECT_TRUE(Covers("2.18", "2.18"));
  EXPECT_FALSE(Covers("2.1", "2.18"));
}

TEST(Kernel, UbuntuHasSeriesAbiAndFlavour) {  // vector 2
  const auto kernel = ParseKernel("5.15.0-113-generic", "", "ubuntu");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->stable, "5.15.0");
  EXPECT_EQ(kernel->abi, 113U);
  EXPECT_EQ(kernel->flavour, "generic");
}

TEST(Kernel, AFlavourMayHoldADash) {  // vector 3
  const auto kernel = ParseKernel("6.8.0-1015-azure-fde", "", "ubuntu");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->abi, 1015U);
  EXPECT_EQ(kernel->flavour, "azure-fde");
  EXPECT_EQ(kernel->Series(), "6.8");
}

TEST(Kernel, DebianHidesTheLevelInTheBuild) {  // vector 4
  const auto kernel = ParseKernel("6.1.0-18-cloud-amd64",
                                  "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)", "debian");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->version, VersionOf("6.1.76"));
}

TEST(Kernel, EnterpriseKernelsAreKnownByTheirName) {
  const auto kernel = ParseKernel("5.14.0-570.12.1.el9_6.x86_64", "", "");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->enterprise);
  EXPECT_EQ(kernel->el_release, "9.6");
  EXPECT_FALSE(ParseKernel("6.8.0-31-generic", "", "ubuntu")->enterprise);
}

TEST(Kernel, NothingIsMadeOfWhatIsNoKernel) {
  for (const std::string_view text : {"", "generic", "5", "v6.8", "-6.8"})
    EXPECT_FALSE(ParseKernel(text, "", "ubuntu")) << text;
}

TEST(EndOfLife, BeginsTheDayAfterTheLastDayOfThePeriod) {  // vector 6
  const KnowledgeBase& knowledge = BuiltInForTests();
  const Branch* b470 = knowledge.FindBranch("470");
  const Branch* b590 = knowledge.FindBranch("590");
  const Branch* b367 = knowledge.FindBranch("367");
  ASSERT_TRUE(b470 && b590 && b367);
  EXPECT_FALSE(b470->EndOfLife("2024-07-31"));
  EXPECT_TRUE(b470->EndOfLife("2024-08-01"));
  EXPECT_FALSE(b590->EndOfLife("2026-12-22"));
  EXPECT_TRUE(b590->EndOfLife("2026-12-23"));
  EXPECT_TRUE(b367->EndOfLife("2026-12-01"));
}

TEST(Compiler, IsReadFromItsNameOrItsBanner) {
  EXPECT_EQ(ParseCompiler("gcc-12")->major, 12U);
  EXPECT_EQ(ParseCompiler("x86_64-linux-gnu-gcc-12")->major, 12U);
  EXPECT_EQ(ParseCompiler("gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0")->major, 11U);
  EXPECT_EQ(ParseCompiler("clang version 17.0.6")->name, "clang");
  EXPECT_FALSE(ParseCompiler("cc"));
  EXPECT_FALSE(ParseCompiler(""));
}

}  // namespace

}  // namespace pawl::compat
