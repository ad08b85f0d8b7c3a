#include "agent/allocate.h"

#include <gtest/gtest.h>

#include <regex>

namespace pawl::agent {
namespace {

// The vectors of spec/device-plugin.md, by number.

constexpr const char* kUuid = "11111111-2222-4333-8444-555555555555";
using Strings = std::vector<std::string>;
using Envs = std::map<std::string, std::string>;

AllocatableDevices DevicesOf(const Strings& ids) {
  AllocatableDevices devices;
  devices.resource = "nvidia.com/gpu";
  for (const std::string& id : ids) {
    const std::string index = std::to_string(devices.by_id.size());
    devices.by_id[id] = AllocatableDevice{index, {"/dev/nvidia" + index}};
  }
  return devices;
}

AllocationRules RulesOf(std::string_view strategies) {
  AllocationRules rules;
  const auto parsed = ParseListStrategies(strategies);
  EXPECT_TRUE(parsed);
  rules.strategies = *parsed;
  return rules;
}

node::AllocateAnswer Answer(const AllocationRules& rules, const AllocatableDevices& devices,
                            const Strings& ids) {
  const auto answer = AnswerAllocate(rules, devices, ids, kUuid);
  EXPECT_TRUE(answer) << answer.error().message();
  return answer ? *answer : node::AllocateAnswer{};
}

TEST(Allocate, Vector14EnvvarNamesEachDeviceOnceInTheOrderOfTheRequest) {
  const auto answer = Answer(RulesOf("envvar"), DevicesOf({"bar", "foo"}), {"foo", "bar", "foo"});
  EXPECT_EQ(answer.envs, (Envs{{"NVIDIA_VISIBLE_DEVICES", "foo,bar"}}));
  EXPECT_TRUE(answer.mounts.empty());
  EXPECT_TRUE(answer.devices.empty());
  EXPECT_TRUE(answer.annotations.empty());
  EXPECT_TRUE(answer.cdi_devices.empty());
}

TEST(Allocate, Vector15ReplicasOfOneGpuAreThatGpuOnce) {
  const auto answer =
      Answer(RulesOf("envvar"), DevicesOf({"GPU-a::0", "GPU-a::1"}), {"GPU-a::0", "GPU-a::1"});
  EXPECT_EQ(answer.envs, (Envs{{"NVIDIA_VISIBLE_DEVICES", "GPU-a"}}));
}

TEST(Allocate, Vector17AnUnknownDeviceIsRefusedByName) {
  const auto answer = AnswerAllocate({}, DevicesOf({"GPU-a"}), {"GPU-a", "GPU-x"}, kUuid);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message(), "nvidia.com/gpu has no device \"GPU-x\"");
}

TEST(Allocate, Vector18VolumeMountsMountNullUnderTheDevicesName) {
  const auto answer = Answer(RulesOf("volume-mounts"), DevicesOf({"GPU-a"}), {"GPU-a"});
  EXPECT_EQ(answer.envs, (Envs{{"NVIDIA_VISIBLE_DEVICES", "/var/run/nvidia-container-devices"}}));
  ASSERT_EQ(answer.mounts.size(), 1U);
  EXPECT_EQ(answer.mounts[0].container_path, "/var/run/nvidia-container-devices/GPU-a");
  EXPECT_EQ(answer.mounts[0].host_path, "/dev/null");
  EXPECT_FALSE(answer.mounts[0].read_only);
}

TEST(Allocate, Vectors19And20CdiAnnotationsAreOneKeyWithAllNames) {
  AllocationRules rules = RulesOf("cdi-annotations");
  const AllocatableDevices devices = DevicesOf({"GPU-a", "GPU-b"});
  const std::string names =
      "k8s.device-plugin.nvidia.com/gpu=GPU-a,k8s.device-plugin.nvidia.com/gpu=GPU-b";
  auto answer = Answer(rules, devices, {"GPU-a", "GPU-b"});
  EXPECT_EQ(answer.annotations,
            (Envs{{std::string("cdi.k8s.io/nvidia-device-plugin_") + kUuid, names}}));
  EXPECT_TRUE(answer.envs.empty());
  EXPECT_TRUE(answer.cdi_devices.empty());

  rules.cdi_annotation_prefix = "custom.cdi.k8s.io/";
  answer = Answer(rules, devices, {"GPU-a", "GPU-b"});
  EXPECT_EQ(answer.annotations.begin()->first,
            std::string("custom.cdi.k8s.io/nvidia-device-plugin_") + kUuid);
}

TEST(Allocate, Vector21CdiStrategiesAlonePassNoDeviceNodes) {
  AllocationRules rules = RulesOf("cdi-annotations,cdi-cri");
  rules.pass_device_specs = true;
  const auto answer = Answer(rules, DevicesOf({"GPU-a"}), {"GPU-a"});
  EXPECT_EQ(answer.annotations.size(), 1U);
  EXPECT_EQ(answer.cdi_devices, (Strings{"k8s.device-plugin.nvidia.com/gpu=GPU-a"}));
  EXPECT_TRUE(answer.devices.empty());
}

TEST(Allocate, Vector22DeviceNodesAreNamedUnderTheDevRootAndOnceEach) {
  AllocationRules rules = RulesOf("envvar");
  rules.pass_device_specs = true;
  AllocatableDevices devices;
  devices.dev_root = "/run/nvidia/driver";
  devices.control_nodes = {"/dev/nvidiactl"};
  devices.by_id["GPU-a"] = {"3", {"/dev/nvidia3"}};
  devices.by_id["GPU-b"] = {"4", {"/dev/nvidia3", "/dev/nvidia4"}};
  const auto answer = Answer(rules, devices, {"GPU-a", "GPU-b"});
  ASSERT_EQ(answer.devices.size(), 3U);
  EXPECT_EQ(answer.devices[0].container_path, "/dev/nvidiactl");
  EXPECT_EQ(answer.devices[1].container_path, "/dev/nvidia3");
  EXPECT_EQ(answer.devices[1].host_path, "/run/nvidia/driver/dev/nvidia3");
  EXPECT_EQ(answer.devices[1].permissions, "rw");
  EXPECT_EQ(answer.devices[2].container_path, "/dev/nvidia4");
}

TEST(Allocate, Vector38VolumeMountsOverwriteTheVariableOfEnvvar) {
  const auto answer = Answer(RulesOf("envvar, volume-mounts"), DevicesOf({"GPU-a"}), {"GPU-a"});
  EXPECT_EQ(answer.envs, (Envs{{"NVIDIA_VISIBLE_DEVICES", "/var/run/nvidia-container-devices"}}));
}

TEST(Allocate, TheIndexStrategyNamesDevicesByIndex) {
  AllocationRules rules = RulesOf("cdi-cri,envvar");
  rules.id_strategy = IdStrategy::kIndex;
  const auto answer = Answer(rules, DevicesOf({"GPU-a", "GPU-b"}), {"GPU-b"});
  EXPECT_EQ(answer.envs.at("NVIDIA_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(answer.cdi_devices, (Strings{"k8s.device-plugin.nvidia.com/gpu=1"}));
}

TEST(Allocate, AStrategyThatIsNoneIsNamed) {
  for (const std::string_view text : {"", "envvar,", "cdi", "envvar,cdi_cri"}) {
    EXPECT_FALSE(ParseListStrategies(text)) << text;
  }
  EXPECT_EQ(ParseListStrategies("nope").error().message(),
            "device list strategy \"nope\": expected envvar, volume-mounts, cdi-annotations or "
            "cdi-cri");
  EXPECT_FALSE(ParseIdStrategy("serial"));
}

TEST(Allocate, UuidsAreRandomAndOfVersion4) {
  const std::regex form("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(NewUuid(), form));
  EXPECT_NE(NewUuid(), NewUuid());
}

}  // namespace
}  // namespace pawl::agent
