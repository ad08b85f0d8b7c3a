// Profiles and what is made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/hardware/kernel_files.h"
#include "testing/hardware/profile_yaml.h"
#include "testing/hardware/table.h"

namespace pawl::stand_in {
namespace {

using testing::HasSubstr;

std::string ReadProfile(const std::string& name) {
  const auto text = ReadFile("testing/profiles/" + name + ".yaml");
  EXPECT_TRUE(text.has_value());
  return text.value_or("");
}

Profile Parse(const std::string& name) {
  const auto profile = ParseProfile(name, ReadProfile(name));
  EXPECT_TRUE(profile.has_value()) << profile.error().message();
  return *profile;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Profile, ErrorsNameTheKey) {
  const std::string good = ReadProfile("t4x4");
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {Replaced(good, "    vbios: 90.04.96.00.01\n", ""), "models.t4.vbios: missing"},
      {Replaced(good, "gsp: true", "gsp: perhaps"), "models.t4.gsp: bad conversion"},
      {Replaced(good, "    gsp: true", "    colour: green\n    gsp: true"),
       "models.t4.colour: not a key"},
      {Replaced(good, "minor: 1,", "minor: 0,"), "two GPUs with minor number 0"},
      {Replaced(good, "bus: \"0000:3b:00.0\"", "bus: \"3b\""), "gpus[1].bus: '3b' is no bus id"},
      {Replaced(good, "model: t4, minor: 3", "model: t5, minor: 3"),
       "gpus[3].model: no model 't5'"},
      {"[", "profile t4x4"},
  };
  for (const auto& one : cases) {
    const auto parsed = ParseProfile("t4x4", one.text);
    ASSERT_FALSE(parsed.has_value()) << one.message;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kInvalid);
    EXPECT_THAT(parsed.error().message(), HasSubstr(one.message));
  }
}

TEST(Profile, EveryGpuOfTheCubeMeshHasSixLinks) {
  for (const Gpu& gpu : Parse("v100x8").gpus) EXPECT_EQ(gpu.links.size(), 6U) << gpu.uuid;
}

TEST(KernelFiles, SysfsHasTheClassVendorAndNodeOfEachGpu) {
  const auto files = RenderKernelFiles(Parse("t4x4"));
  EXPECT_EQ(files.at("pci/0000:af:00.0/class"), "0x030200\n");
  EXPECT_EQ(files.at("pci/0000:af:00.0/vendor"), "0x10de\n");
  EXPECT_EQ(files.at("pci/0000:af:00.0/device"), "0x1eb8\n");
  EXPECT_EQ(files.at("pci/0000:af:00.0/numa_node"), "1\n");
  EXPECT_EQ(files.at("pci/0000:00:03.0/class"), "0x020000\n") << "a network card that is not a GPU";
}

// spec/feature-discovery.md §6: these are no virtual GPUs, and the walk over the capabilities ends.
TEST(KernelFiles, ConfigurationSpaceHasAListOfCapabilitiesWithoutAVendorsOwn) {
  const std::string config = RenderKernelFiles(Parse("t4x4")).at("pci/0000:1b:00.0/config");
  ASSERT_EQ(config.size(), 256U);
  EXPECT_NE(config[6] & 0x10, 0);
  std::vector<int> capabilities;
  for (unsigned at = static_cast<unsigned char>(config[0x34]); at != 0;
       at = static_cast<unsigned char>(config[at + 1])) {
    ASSERT_LT(capabilities.size(), 10U) << "a loop";
    capabilities.push_back(config[at]);
  }
  EXPECT_THAT(capabilities, testing::ElementsAre(0x01, 0x05, 0x10));
}

TEST(KernelFiles, DeviceNodesAreThoseOfTheDriver) {
  const auto files = RenderKernelFiles(Parse("t4x4"));
  EXPECT_EQ(files.at("dev.list"),
            "/dev/nvidia0 195 0 0666\n/dev/nvidia1 195 1 0666\n/dev/nvidia2 195 2 "
            "0666\n/dev/nvidia3 195 3 0666\n"
            "/dev/nvidiactl 195 255 0666\n/dev/nvidia-modeset 195 254 0666\n"
            "/dev/nvidia-uvm 507 0 0666\n/dev/nvidia-uvm-tools 507 1 0666\n");
  EXPECT_THAT(files.at("proc-driver/nvidia/version"),
              testing::StartsWith("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01"));
  EXPECT_THAT(files.at("proc-driver/nvidia/params"), HasSubstr("\nModifyDeviceFiles: 1\n"));
  EXPECT_THAT(files.at("proc-driver/nvidia/gpus/0000:1b:00.0/information"),
              HasSubstr("Device Minor: \t 0\n"));
}

TEST(Table, QuotesText) {
  Profile profile;
  profile.name = "odd";
  profile.product = R"(a "quoted" \ name)";
  EXPECT_THAT(RenderTable(profile), HasSubstr(R"(.product = "a \"quoted\" \\ name")"));
}

}  // namespace
}  // namespace pawl::stand_in
