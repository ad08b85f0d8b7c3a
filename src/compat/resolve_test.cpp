// Behaviour beyond the vectors of the specification.
#include "compat/resolve.h"

#include <gmock/gmock.h>

#include "compat/report.h"
#include "compat/testing.h"

namespace pawl::compat {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kOutage =
    R"({"gpus": ["1EB8"], "os": "ubuntu22.04", "kernel": "5.15.0-113-generic", "driver": "520.61.05", "module_flavour": ")";

TEST(Resolve, TheOutageIsNamedWithItsRowItsSourceAndAFix) {
  const Answer answer = Ask(std::string(kOutage) + R"(proprietary"})");
  EXPECT_EQ(answer.status, AnswerStatus::kImpossible);
  EXPECT_THAT(answer.conflicts, Contains("BREAKAGE:pfn-valid-gpl-ubuntu-5.15"));
  const auto fact =
      std::ranges::find(answer.why, "BREAKAGE:pfn-valid-gpl-ubuntu-5.15", &Fact::code);
  ASSERT_NE(fact, answer.why.end());
  EXPECT_THAT(fact->sources, Contains(HasSubstr("github.com/NVIDIA/gpu-operator/issues")));
  ASSERT_TRUE(answer.suggest && answer.suggest->recommended);
  EXPECT_EQ(answer.suggest->recommended->branch, "595");
}

TEST(Resolve, WithAutoModulesTheSwitchToOpenOnesIsTheAnswer) {
  const Answer answer = Ask(std::string(kOutage) + R"(auto"})");
  ASSERT_TRUE(answer.recommended);
  EXPECT_EQ(answer.recommended->flavour, "open");
  EXPECT_THAT(answer.warnings, Contains("FLAVOUR_SWITCHED:open"));
  EXPECT_THAT(answer.warnings, Contains("GPU_NOT_LISTED:1EB8"));
}

TEST(Resolve, KeplerOnTheNewestDriverNamesTheLastBranchAndItsCuda) {
  const Answer answer = Ask(R"({"gpus": ["102D"], "driver": "595.91.07"})");
  ASSERT_TRUE(answer.suggest && answer.suggest->recommended);
  EXPECT_EQ(answer.suggest->recommended->branch, "470");
  EXPECT_EQ(answer.suggest->cuda_max.native, "11.4");
  EXPECT_EQ(answer.suggest->cuda_max.minor, "11.8");
}

TEST(Resolve, AFrameworkGivesItsInstallCommand) {
  const Answer answer = Ask(R"({"gpus": ["1EB8"], "framework": "torch==2.5.1+cu124"})");
  ASSERT_TRUE(answer.framework);
  EXPECT_EQ(answer.framework->install,
            "pip3 install torch==2.5.1 --index-url https://download.pytorch.org/whl/cu124");
  EXPECT_THAT(answer.rejected,
              Contains(testing::Field(&RejectedLine::codes, Contains("CUDA_TOO_NEW"))));
}

TEST(Resolve, TheAnswerNamesWhatRunsOnTheDriver) {
  std::map<std::string, FrameworkChoice> by_name;
  for (const FrameworkChoice& choice : Ask(R"({"gpus": ["1DB4"]})").frameworks)
    by_name[choice.name] = choice;
  EXPECT_EQ(by_name["pytorch"].version, "2.13.0");
  EXPECT_EQ(by_name["pytorch"].variant, "12.6");  // from 2.8 on the only build with code for Volta
  EXPECT_EQ(by_name["jax"].variant, "cuda12");    // cuda13 asks for 7.5
  EXPECT_THAT(by_name["tensorflow"].install, HasSubstr("tensorflow[and-cuda]"));
}

TEST(Resolve, OpenModulesOnPascalAreRefused) {
  const Answer answer = Ask(R"({"gpus": ["15F8"], "module_flavour": "open"})");
  EXPECT_THAT(answer.conflicts, Contains("NO_COMMON_FLAVOUR"));
  EXPECT_EQ(answer.suggest->recommended->flavour, "proprietary");
}

TEST(Resolve, GpusThatCannotShareANodeAreToldApart) {
  const Answer answer = Ask(R"({"gpus": ["1DB4", "2901"]})");
  EXPECT_EQ(answer.status, AnswerStatus::kImpossible);
  EXPECT_THAT(answer.advice, Contains("SPLIT_NODE"));
}

TEST(Resolve, ForwardCompatibilityOnAGeForceIsRefused) {
  const Answer answer = Ask(R"({"gpus": ["2204"], "driver": "535.309.01", "cuda": "13.2"})");
  EXPECT_THAT(answer.conflicts, Contains("CUDA_TOO_NEW"));
}

TEST(Resolve, SecureBootRefusesWhatNobodySigned) {
  constexpr std::string_view kNode =
      R"({"gpus": ["1EB8"], "os": "ubuntu22.04", "kernel": "5.15.0-176-generic", "secure_boot": true, "mode": ")";
  const Answer container = Ask(std::string(kNode) + R"(container"})");
  EXPECT_THAT(container.conflicts, Contains("SECURE_BOOT_UNSIGNED"));
  EXPECT_THAT(container.advice, Contains("OTHER_MODE:precompiled"));
  EXPECT_THAT(container.advice, Contains("OTHER_MODE:host_packages"));
  EXPECT_EQ(Ask(std::string(kNode) + R"(precompiled"})").status, AnswerStatus::kOk);
  EXPECT_EQ(Ask(std::string(kNode) + R"(host_packages"})").status, AnswerStatus::kOk);
}

TEST(Resolve, AnImageBringsItsCuda) {
  EXPECT_EQ(
      Ask(R"({"gpus": ["20B0"], "driver": "535.54.03", "image": "nvcr.io/nvidia/pytorch:24.05-py3"})")
          .recommended->cuda_mode,
      "minor");
  EXPECT_EQ(
      Ask(R"({"gpus": ["20B0"], "driver": "535.54.03", "image": "nvidia/cuda:12.2.0-base-ubuntu22.04"})")
          .recommended->cuda_mode,
      "native");
  EXPECT_EQ(
      Ask(R"({"gpus": ["102D"], "image": "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime"})").status,
      AnswerStatus::kImpossible);
}

TEST(Resolve, AnImageInNoListIsUnknownNotFine) {
  const Answer answer = Ask(R"({"gpus": ["20B0"], "image": "example.com/ours:1"})");
  EXPECT_THAT(answer.warnings, Contains("IMAGE_UNKNOWN"));
  EXPECT_EQ(answer.confidence, Confidence::kInferred);
}

TEST(Resolve, AVirtualGpuNeedsItsGuestDriver) {
  const Device* virtual_gpu = nullptr;
  for (const Device& device : BuiltInForTests().devices) {
    if (device.cls == "vgpu") virtual_gpu = &device;
  }
  ASSERT_NE(virtual_gpu, nullptr);
  const Answer answer = Ask(R"({"gpus": [")" + std::string(virtual_gpu->pci_id) + R"("]})");
  EXPECT_EQ(answer.status, AnswerStatus::kUnsupported);
  EXPECT_THAT(answer.conflicts, Contains("VGPU_GUEST_DRIVER"));
}

TEST(Resolve, ARecordedBuildIsTheStrongestEvidence) {
  constexpr std::string_view kNode =
      R"({"kernel": "6.10.0", "driver": "470.256.02", "build_records": [{"version": "470.256.02", "flavour": "proprietary", "kernel": "6.10.0", "built": )";
  const Answer built = Ask(std::string(kNode) + "true}]}");
  EXPECT_EQ(built.status, AnswerStatus::kOk);
  EXPECT_THAT(built.warnings, Contains("PREBUILT_OVERRIDES:KERNEL_ABI:6.10"));
  const Answer failed = Ask(
      R"({"kernel": "6.8.0", "driver": "595.91.07", "module_flavour": "open", "build_records": [{"version": "595.91.07", "flavour": "open", "kernel": "6.8.0", "built": false}]})");
  EXPECT_THAT(failed.conflicts, Contains("BUILD_FAILED_HERE"));
}

TEST(Resolve, APackageNameThatInstallsAnotherBranchIsSaid) {
  const Answer answer =
      Ask(R"({"gpus": ["1EB8"], "os": "ubuntu24.04", "mode": "host_packages", "driver": "535"})");
  ASSERT_TRUE(answer.recommended);
  EXPECT_EQ(answer.recommended->branch, "580");
  EXPECT_THAT(answer.advice, Contains("TRANSITIONAL_PACKAGE:nvidia-driver-535->nvidia-driver-580"));
}

TEST(Resolve, AKernelConfigurationIsJudgedByName) {
  const Answer answer = Ask(
      R"({"kernel": "6.8.0", "driver": "595.91.07", "kernel_config": {"CONFIG_PREEMPT_RT": "y", "CONFIG_MMU_NOTIFIER": "y"}})");
  EXPECT_THAT(answer.conflicts, Contains("BREAKAGE:preempt-rt"));
}

TEST(Resolve, ABranchWithoutAReleaseIsNeverACandidate) {
  EXPECT_THAT(Ask(R"({"driver": "620"})").conflicts, Contains("BRANCH_UNKNOWN"));
  EXPECT_THAT(Ask(R"({"driver": "999"})").conflicts, Contains("BRANCH_UNKNOWN"));
}

TEST(Resolve, AKernelNewerThanTheDataIsSaidToBeUnknown) {
  const Answer answer = Ask(R"({"gpus": ["1EB8"], "kernel": "9.1.0"})");
  EXPECT_THAT(answer.unknown, Contains(StartsWith("kernel 9.1.0: newer than the newest")));
  EXPECT_EQ(answer.confidence, Confidence::kInferred);
}

TEST(Resolve, NoQuestionListsBranchesByPolicy) {
  const Answer answer = Ask("{}");
  ASSERT_TRUE(answer.recommended);
  EXPECT_EQ(answer.recommended->branch, "595");
  EXPECT_THAT(answer.allowed.size(), testing::Gt(20U));
}

TEST(Input, AFieldThatNobodyKnowsIsRefused) {
  Result<json::value> value = ParseJson(R"({"gpu": ["1EB8"]})");
  const Result<Input> input = ParseInput(*value);
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().message(), "gpu: is not known");
}

TEST(Input, AWrongValueIsNamedWithItsField) {
  const auto error = [](std::string_view text) {
    Result<json::value> value = ParseJson(text);
    const Result<Input> input = ParseInput(*value);
    return input ? std::string() : input.error().message();
  };
  EXPECT_EQ(error(R"({"policy": "fast"})"),
            "policy: expected one of production, ltsb, pb, latest, found \"fast\"");
  EXPECT_EQ(error(R"({"driver": "new"})"), "driver: expected numbers between dots, found \"new\"");
  EXPECT_EQ(error(R"({"framework": "torch==2.5.1+rocm6"})"),
            "framework: expected a CUDA variant like +cu124 in \"torch==2.5.1+rocm6\"");
  EXPECT_EQ(error(R"({"os": "22.04"})"), "os: expected a text like ubuntu22.04, found \"22.04\"");
}

TEST(Input, AFrameworkIsReadAsPeopleWriteIt) {
  EXPECT_EQ(ParseFramework("torch==2.5.1+cu124")->cuda_variant, "12.4");
  EXPECT_EQ(ParseFramework("torch==2.5.1+cu124")->name, "pytorch");
  EXPECT_EQ(ParseFramework("jax[cuda13]")->variant, "cuda13");
  EXPECT_EQ(ParseFramework("tensorflow 2.18")->version, "2.18");
  EXPECT_EQ(ParseFramework("vllm")->version, "");
}

TEST(Matrix, HasARowForEveryBranchAndAReasonWhereNoneFits) {
  const std::vector<MatrixRow> rows = Matrix(BuiltInForTests(), InputOf(R"({"gpus": ["1DB4"]})"));
  ASSERT_EQ(rows.size(), BuiltInForTests().branches.size());
  const auto of = [&](std::string_view branch) {
    return *std::ranges::find(rows, branch, &MatrixRow::branch);
  };
  EXPECT_EQ(of("595").reason, "ARCH_DROPPED:volta");
  EXPECT_EQ(of("580").version, "580.178.04");
  for (const MatrixRow& row : rows) {
    EXPECT_NE(row.version.empty(), row.reason.empty()) << row.branch;
  }
}

TEST(AnswerObject, HasExactlyTheFieldNamesOfTheSpecification) {
  const json::object object =
      ToJson(Ask(R"({"gpus": ["20B0"], "cuda": "12.4", "os": "ubuntu24.04"})"), Detail::kShort);
  for (const char* key :
       {"status", "recommended", "lowest", "allowed", "warnings", "advice", "conflicts", "why"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
  for (const char* key : {"version", "branch", "flavour", "cuda_mode", "image"}) {
    EXPECT_TRUE(object.at("recommended").as_object().contains(key)) << key;
  }
  for (const char* key : {"native", "minor", "forward"})
    EXPECT_TRUE(object.at("cuda_max").as_object().contains(key)) << key;
}

}  // namespace

}  // namespace pawl::compat
