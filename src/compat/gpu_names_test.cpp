#include "compat/gpu_names.h"

#include <gmock/gmock.h>

#include "compat/testing.h"

namespace pawl::compat {

namespace {

std::string Found(std::string_view text) {
  const GpuMatch match = FindGpu(BuiltInForTests(), text);
  return match.device == nullptr ? "" : std::string(match.device->pci_id);
}

TEST(GpuNames, APciIdIsFoundInAnySpelling) {
  for (const std::string_view text : {"1EB8", "1eb8", "0x1eb8", "10de:1eb8", "10DE:1EB8"})
    EXPECT_EQ(Found(text), "1EB8") << text;
}

TEST(GpuNames, ANameIsFoundInAnySpelling) {
  for (const std::string_view text : {"Tesla T4", "tesla t4", "T4", "t4", "NVIDIA T4", "Tesla-T4"})
    EXPECT_EQ(Found(text), "1EB8") << text;
  for (const std::string_view text :
       {"RTX 3090", "rtx3090", "NVIDIA GeForce RTX 3090", "geforce-rtx-3090"}) {
    EXPECT_EQ(BuiltInForTests().FindDevice(Found(text))->name, "NVIDIA GeForce RTX 3090") << text;
  }
}

TEST(GpuNames, ANameIsNotFoundInALongerWord) {
  EXPECT_EQ(BuiltInForTests().FindDevice(Found("L4"))->name, "NVIDIA L4");
  EXPECT_EQ(BuiltInForTests().FindDevice(Found("L40"))->name, "NVIDIA L40");
  EXPECT_EQ(BuiltInForTests().FindDevice(Found("L40S"))->name, "NVIDIA L40S");
}

TEST(GpuNames, SeveralBoardsThatNoRuleTellsApartAreOne) {
  EXPECT_EQ(BuiltInForTests().FindDevice(Found("a100"))->arch, "ampere");
  EXPECT_EQ(BuiltInForTests().FindDevice(Found("V100"))->arch, "volta");
  EXPECT_EQ(BuiltInForTests().FindDevice(Found("h100"))->arch, "hopper");
}

TEST(GpuNames, BoardsThatDifferAreAskedAbout) {
  const GpuMatch match = FindGpu(BuiltInForTests(), "geforce mx");
  EXPECT_EQ(match.device, nullptr);
  const GpuMatch titan = FindGpu(BuiltInForTests(), "TITAN");
  EXPECT_EQ(titan.device, nullptr);
  EXPECT_GT(titan.candidates.size(), 1U);
}

TEST(GpuNames, NothingIsMadeOfNothing) {
  for (const std::string_view text : {"", " ", "nvidia", "FFFF", "warp drive", "\xff\xff"})
    EXPECT_EQ(Found(text), "") << text;
}

TEST(GpuNames, AnUnknownGpuGivesNoRecommendation) {
  const Answer answer = Ask(R"({"gpus": ["1EB8", "FFFF"]})");
  EXPECT_EQ(answer.status, AnswerStatus::kUnknownGpu);
  EXPECT_FALSE(answer.recommended);
  EXPECT_THAT(answer.unknown, testing::Contains("GPU FFFF: in no list"));
  EXPECT_THAT(answer.warnings, testing::Contains("GPU_UNKNOWN:FFFF"));
}

}  // namespace

}  // namespace pawl::compat
