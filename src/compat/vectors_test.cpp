// The test vectors of spec/compat.md that ask the resolver: numbers 5 and 7 to 40. The others are
// in version_test.cpp.
#include <gmock/gmock.h>

#include "compat/testing.h"

namespace pawl::compat {

namespace {

struct Vector {
  int number;
  std::string_view input;
  std::string_view verdict;  // "ok 595.91.07 open", "impossible", "ok" (any version)
  std::vector<std::string_view> codes =
      {};  // among conflicts where impossible, else among warnings
  std::vector<std::string_view> absent = {};  // in no warning
  std::string_view cuda_mode = "";
  std::vector<std::string_view> allowed = {};  // exactly, where given
};

void PrintTo(const Vector& vector, std::ostream* out) {
  *out << "#" << vector.number << " " << vector.input;
}

constexpr std::string_view kA100Noble =
    R"("gpus": ["20B0"], "os": "ubuntu24.04", "kernel": "6.8.0-60-generic")";

std::string A100(std::string_view more) {
  return "{" + std::string(kA100Noble) + std::string(more) + "}";
}

class TestVector : public testing::TestWithParam<Vector> {};

std::string Verdict(const Answer& answer, std::string_view like) {
  std::string text(ToString(answer.status));
  if (answer.recommended && like.find(' ') != std::string_view::npos) {
    text += " " + answer.recommended->version;
    if (like.rfind(' ') != like.find(' ')) text += " " + answer.recommended->flavour;
  }
  return text;
}

TEST_P(TestVector, IsAnsweredAsSpecified) {
  const Vector& vector = GetParam();
  const Answer answer = Ask(vector.input);
  SCOPED_TRACE(ToPrettyJson(ToJson(answer, Detail::kShort)));
  EXPECT_EQ(Verdict(answer, vector.verdict), vector.verdict);
  const std::vector<std::string>& codes =
      answer.status == AnswerStatus::kOk ? answer.warnings : answer.conflicts;
  for (const std::string_view code : vector.codes)
    EXPECT_THAT(codes, testing::Contains(std::string(code)));
  for (const std::string_view code : vector.absent) {
    EXPECT_THAT(answer.warnings,
                testing::Not(testing::Contains(testing::StartsWith(std::string(code)))));
  }
  if (!vector.cuda_mode.empty() && answer.recommended) {
    EXPECT_EQ(answer.recommended->cuda_mode, vector.cuda_mode);
  }
  std::vector<std::string> allowed;
  for (const AllowedBranch& branch : answer.allowed) allowed.push_back(branch.branch);
  if (!vector.allowed.empty()) {
    EXPECT_THAT(allowed, testing::ElementsAreArray(vector.allowed));
  }
}

const std::string kV7 = A100("");
const std::string kV8 = A100(R"(, "policy": "ltsb")");
const std::string kV9 = A100(R"(, "policy": "latest")");
const std::string kV10 = A100(R"(, "policy": "latest", "module_flavour": "proprietary")");

const std::vector<Vector> kVectors = {
    {5,
     R"({"gpus": ["2330"], "os": "rhel9.6", "kernel": "5.14.0-570.12.1.el9_6.x86_64"})",
     "ok 595.91.07 open",
     {"KERNEL_BACKPORTS"}},
    {7, kV7, "ok 595.91.07 open"},
    {8, kV8, "ok 580.178.04 open"},
    {9, kV9, "ok 615.31 open"},
    {10, kV10, "ok 595.91.07 proprietary"},
    {11, R"({"gpus": ["1DB4"], "policy": "latest"})", "ok 580.178.04 proprietary"},
    {12, R"({"gpus": ["20B0", "1DB4"]})", "ok 580.178.04 proprietary"},
    {13,
     R"({"gpus": ["20B0", "1DB4"], "module_flavour": "open"})",
     "impossible",
     {"NO_COMMON_FLAVOUR"}},
    {14,
     R"({"gpus": ["102D"], "cuda": "11.8"})",
     "ok 470.256.02 proprietary",
     {"BRANCH_EOL"},
     {},
     "minor",
     {"450", "455", "460", "465", "470"}},
    {15, R"({"gpus": ["102D"], "cuda": "12.0"})", "impossible", {"CUDA_DROPS_GPU:3.7"}},
    {16, R"({"gpus": ["102D"], "kernel": "6.8.0"})", "ok 470.256.02"},
    {16, R"({"gpus": ["102D"], "kernel": "6.10.0"})", "impossible", {"KERNEL_ABI:6.10"}},
    {17,
     R"({"gpus": ["27B8"], "driver": "515.105.01"})",
     "impossible",
     {"DRIVER_TOO_OLD_FOR_GPU:27B8"}},
    {17,
     R"({"gpus": ["27B8"], "driver": "520.61.05"})",
     "ok",
     {"GPU_NOT_LISTED:27B8", "BRANCH_EOL"}},
    {18, R"({"gpus": ["20B0"], "driver": "535.54.03", "cuda": "12.2"})", "ok", {}, {}, "native"},
    {18, R"({"gpus": ["20B0"], "driver": "535.54.03", "cuda": "12.4"})", "ok", {}, {}, "minor"},
    {19, R"({"gpus": ["20B0"], "driver": "535.309.01", "cuda": "13.2"})", "ok", {}, {}, "forward"},
    {20,
     R"({"gpus": ["20B0"], "driver": "550.163.01", "cuda": "13.2"})",
     "impossible",
     {"CUDA_TOO_NEW"}},
    {21, R"({"gpus": ["20B0"], "driver": "470.256.02", "cuda": "12.0"})", "ok", {}, {}, "forward"},
    {21,
     R"({"gpus": ["20B0"], "driver": "470.256.02", "cuda": "12.0", "forward_compat": false})",
     "impossible",
     {"CUDA_TOO_NEW"}},
    {22, R"({"gpus": ["2204"], "driver": "470.256.02", "cuda": "11.8"})", "ok", {}, {}, "minor"},
    {22,
     R"({"gpus": ["2204"], "driver": "470.256.02", "cuda": "12.0"})",
     "impossible",
     {"CUDA_TOO_NEW"}},
    {23,
     R"({"gpus": ["2B85"], "cuda": "12.4"})",
     "ok 595.91.07 open",
     {"PTX_ONLY:12.0"},
     {},
     "native"},
    {24,
     R"({"gpus": ["2330"], "kernel": "6.18.0", "driver": "535", "module_flavour": "open"})",
     "impossible",
     {"KERNEL_ABI:6.18"}},
    {24, R"({"gpus": ["2330"], "kernel": "6.18.0", "driver": "535"})", "ok 535.309.01 proprietary"},
    {25,
     R"({"gpus": ["2330"], "kernel": "7.0.3", "driver": "535"})",
     "ok 535.309.01",
     {"KERNEL_UNKNOWN:7.0", "BRANCH_EOL"}},
    {26, R"({"kernel": "7.2.0", "driver": "580.173.02"})", "impossible", {"KERNEL_ABI:7.2"}},
    {27,
     R"({"kernel": "7.2.0", "driver": "595.71.05"})",
     "ok",
     {"KERNEL_BEFORE_FIX:7.1", "KERNEL_BEFORE_FIX:7.2"}},
    {27, R"({"kernel": "7.2.0", "driver": "595.91.07"})", "ok", {}, {"KERNEL_BEFORE_FIX"}},
    {28,
     R"({"gpus": ["1EB8"], "os": "ubuntu22.04", "driver": "530.30.02", "module_flavour": "proprietary", "kernel": "5.15.0-105-generic"})",
     "ok"},
    {28,
     R"({"gpus": ["1EB8"], "os": "ubuntu22.04", "driver": "530.30.02", "module_flavour": "proprietary", "kernel": "5.15.0-106-generic"})",
     "impossible",
     {"BREAKAGE:pfn-valid-gpl-ubuntu-5.15"}},
    {29,
     R"({"gpus": ["1EB8"], "os": "ubuntu22.04", "driver": "530.30.02", "kernel": "5.15.0-106-generic"})",
     "ok 530.30.02 open",
     {"GPU_NOT_LISTED:1EB8", "BRANCH_EOL", "FLAVOUR_SWITCHED:open"}},
    {30, R"({"kernel": "6.1.75", "driver": "525.147.05", "module_flavour": "proprietary"})", "ok"},
    {30,
     R"({"kernel": "6.1.76", "driver": "525.147.05", "module_flavour": "proprietary"})",
     "impossible",
     {"BREAKAGE:pfn-valid-gpl-upstream"}},
    {31, R"({"kernel": "6.8.0", "driver": "550.40.07", "module_flavour": "open"})", "ok"},
    {31, R"({"kernel": "6.8.0", "driver": "550.40.07", "module_flavour": "proprietary"})",
     "impossible"},
    {32,
     R"({"kernel": "5.18.0", "driver": "510.47.03"})",
     "ok",
     {"KERNEL_BEFORE_FIX:5.17", "KERNEL_BEFORE_FIX:5.18"}},
    {32, R"({"kernel": "5.18.0", "driver": "510.85.02"})", "ok", {}, {"KERNEL_BEFORE_FIX"}},
    {33,
     R"({"gpus": ["1DB4"], "os": "ubuntu26.04", "kernel": "7.0.0-14-generic", "driver": "580.142"})",
     "impossible",
     {"KERNEL_ABI:7.0"}},
    {33,
     R"({"gpus": ["1DB4"], "os": "ubuntu26.04", "kernel": "7.0.0-14-generic", "driver": "580.142", "mode": "host_packages"})",
     "ok",
     {"PREBUILT_OVERRIDES:KERNEL_ABI:7.0"}},
    {34,
     R"({"gpus": ["2330"], "os": "ubuntu24.04", "kernel": "6.8.0-1028-nvidia", "mode": "precompiled", "policy": "ltsb"})",
     "ok 580.178.04"},
    {35,
     R"({"gpus": ["2330"], "os": "ubuntu24.04", "kernel": "6.14.0-37-generic", "mode": "precompiled"})",
     "impossible",
     {"NO_PRECOMPILED"}},
    {36,
     R"({"gpus": ["2330"], "os": "ubuntu22.04", "kernel": "5.15.0-1090-azure-fde", "mode": "precompiled"})",
     "impossible",
     {"NO_PRECOMPILED"}},
    {37, R"({"gpus": ["2684"], "driver": "570.211.01", "framework": "torch==2.13.0"})", "ok"},
    {38, R"({"gpus": ["102D"], "framework": "torch==2.0.1"})", "ok 470.256.02"},
    {39, R"({"gpus": ["3182"], "framework": "torch==2.9.1"})", "ok 595.91.07 open"},
    {40,
     R"({"gpus": ["2BB5"], "policy": "ltsb"})",
     "ok 580.178.04 open",
     {},
     {},
     "",
     {"575", "580", "590", "595", "610", "615"}},
};

std::string NameOf(const testing::TestParamInfo<Vector>& test) {
  return "Number" + std::to_string(test.param.number) + "_" + std::to_string(test.index);
}

INSTANTIATE_TEST_SUITE_P(Specification, TestVector, testing::ValuesIn(kVectors), NameOf);

TEST(TestVectors, TheLowestVersionForAKernelIsNamed) {  // 16
  EXPECT_EQ(Ask(R"({"gpus": ["102D"], "kernel": "6.8.0"})").lowest, "470.239.06");
}

TEST(TestVectors, ATooNewCudaSuggestsADriver) {  // 20
  const Answer answer = Ask(R"({"gpus": ["20B0"], "driver": "550.163.01", "cuda": "13.2"})");
  ASSERT_TRUE(answer.suggest && answer.suggest->recommended);
  EXPECT_EQ(answer.suggest->recommended->version, "595.91.07");
}

TEST(TestVectors, ForwardCompatibilityNamesItsPackage) {  // 19
  EXPECT_THAT(Ask(R"({"gpus": ["20B0"], "driver": "535.309.01", "cuda": "13.2"})").advice,
              testing::Contains("COMPAT_PACKAGE_NEEDED:cuda-compat-13-2"));
}

TEST(TestVectors, AFailingPinNamesTheNextOfItsBranch) {  // 26, 31, 33
  EXPECT_EQ(Ask(R"({"kernel": "7.2.0", "driver": "580.173.02"})").same_branch_next, "580.178.04");
  EXPECT_EQ(Ask(R"({"kernel": "6.8.0", "driver": "550.40.07", "module_flavour": "proprietary"})")
                .same_branch_next,
            "550.54.14");
  EXPECT_EQ(
      Ask(R"({"gpus": ["1DB4"], "os": "ubuntu26.04", "kernel": "7.0.0-14-generic", "driver": "580.142"})")
          .same_branch_next,
      "580.159.03");
}

TEST(TestVectors, APrecompiledImageHasTheTagOfItsKernel) {  // 34
  const Answer answer = Ask(
      R"({"gpus": ["2330"], "os": "ubuntu24.04", "kernel": "6.8.0-1028-nvidia", "mode": "precompiled", "policy": "ltsb"})");
  ASSERT_TRUE(answer.recommended);
  EXPECT_EQ(answer.recommended->image, "580-6.8.0-1028-nvidia-ubuntu24.04");
}

TEST(TestVectors, OnlyTheVariantsThatRunAreNamed) {  // 37, 38, 39
  const auto variants = [](std::string_view input) {
    const Answer answer = Ask(input);
    return answer.framework ? answer.framework->variants : std::vector<std::string>{};
  };
  EXPECT_THAT(
      variants(R"({"gpus": ["2684"], "driver": "570.211.01", "framework": "torch==2.13.0"})"),
      testing::ElementsAre("12.6"));
  EXPECT_THAT(variants(R"({"gpus": ["102D"], "framework": "torch==2.0.1"})"),
              testing::ElementsAre("11.7", "11.8"));
  EXPECT_THAT(variants(R"({"gpus": ["3182"], "framework": "torch==2.9.1"})"),
              testing::ElementsAre("12.8", "13.0"));
}

TEST(TestVectors, NewerBranchesAreNotAllowedForVolta) {  // 12
  for (const AllowedBranch& branch : Ask(R"({"gpus": ["20B0", "1DB4"]})").allowed)
    EXPECT_LE(branch.branch, "580");
}

}  // namespace

}  // namespace pawl::compat
