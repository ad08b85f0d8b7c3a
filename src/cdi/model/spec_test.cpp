// Reading, writing, versions and merging, which belong to one format.
#include "cdi/model/spec.h"

#include <gtest/gtest.h>

#include "cdi/model/merge.h"
#include "cdi/model/read.h"
#include "cdi/model/version.h"
#include "cdi/model/write.h"

namespace pawl::cdi {
namespace {

Result<Spec> Read(std::string_view text) {
  const Result<json::value> value = ParseJson(text);
  if (!value) return Fail(value.error());
  return SpecFromJson(*value);
}

// A specification that uses every field.
constexpr std::string_view kEverything = R"({
  "cdiVersion": "1.1.0", "kind": "nvidia.com/gpu", "annotations": {"a": "1"},
  "devices": [{"name": "0", "annotations": {"b": "2"}, "containerEdits": {
    "env": ["A=1"],
    "deviceNodes": [{"path": "/dev/nvidia0", "hostPath": "/r/dev/nvidia0", "type": "c",
                     "major": 195, "minor": 1, "fileMode": 438, "permissions": "rw",
                     "uid": 1, "gid": 44}],
    "netDevices": [{"hostInterfaceName": "eth1", "name": "net1"}],
    "hooks": [{"hookName": "createContainer", "path": "/h", "args": ["h", "x"],
               "env": ["B=2"], "timeout": 5}],
    "mounts": [{"hostPath": "/a", "containerPath": "/b", "type": "bind", "options": ["ro"]}],
    "intelRdt": {"closID": "c", "l3CacheSchema": "l", "memBwSchema": "m", "schemata": ["s"],
                 "enableMonitoring": true},
    "additionalGids": [44]}}],
  "containerEdits": {"env": ["C=3"]}})";

TEST(CdiSpec, EveryFieldSurvivesReadingAndWriting) {
  const Result<Spec> spec = Read(kEverything);
  ASSERT_TRUE(spec) << spec.error().message();
  EXPECT_EQ(ToJson(ToJsonValue(*spec)), ToJson(*ParseJson(kEverything)));
}

struct Bad {
  const char* text;
  const char* message;
};

class RefusedSpecs : public testing::TestWithParam<Bad> {};

TEST_P(RefusedSpecs, NameThePlace) {
  const Result<Spec> spec = Read(GetParam().text);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().message(), std::string("CDI specification: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    CdiSpec, RefusedSpecs,
    testing::Values(
        Bad{"[]", "expected an object"}, Bad{"{}", "cdiVersion: is required"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[]})",
            "devices: must hold at least one device"},
        Bad{R"({"cdiVersion":"0.9.0","kind":"v/c","devices":[{"name":"a","containerEdits":{"env":["A=1"]}}]})",
            "cdiVersion: unknown CDI version \"0.9.0\"; known are 0.3.0 to 0.8.0, 1.0.0 and 1.1.0"},
        // spec/container-toolkit.md vector 23
        Bad{R"({"cdiVersion":"0.4.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"env":["A=1"]}}]})",
            "cdiVersion: 0.4.0 is stated, but what the file holds needs 0.5.0"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"c","devices":[{"name":"0","containerEdits":{"env":["A=1"]}}]})",
            "kind: kind \"c\" must have the form VENDOR/CLASS"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{}}]})",
            "devices[0].containerEdits: must not be empty"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"env":["A"]}}]})",
            "devices[0].containerEdits.env: \"A\" must have the form KEY=VALUE"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"environment":[]}}]})",
            "devices[0].containerEdits.environment: unknown field"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/d","major":"195"}]}}]})",
            "devices[0].containerEdits.deviceNodes[0].major: expected a whole number"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/d","gid":-1}]}}]})",
            "devices[0].containerEdits.deviceNodes[0].gid: expected a number from 0 to 4294967295"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"deviceNodes":[{"path":"/d","type":"x"}]}}]})",
            "devices[0].containerEdits.deviceNodes[0].type: expected \"b\", \"c\", \"u\" or \"p\""},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"hooks":[{"hookName":"x","path":"/d"}]}}]})",
            "devices[0].containerEdits.hooks[0].hookName: unknown hook \"x\""},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"mounts":[{"hostPath":"/d"}]}}]})",
            "devices[0].containerEdits.mounts[0].containerPath: is required"},
        Bad{R"({"cdiVersion":"0.5.0","kind":"v/c","devices":[{"name":"0","containerEdits":{"env":["A=1"]}},{"name":"0","containerEdits":{"env":["A=1"]}}]})",
            "devices: \"0\" stands here a second time"}));

// Cut or with one byte changed, a file is read or refused; nothing else happens.
TEST(CdiSpec, DamagedTextIsReadOrRefused) {
  const std::string whole(kEverything);
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)Read(whole.substr(0, i));
    for (const char c : {'"', '{', ']', '0', '\0'}) {
      std::string changed = whole;
      changed[i] = c;
      (void)Read(changed);
    }
  }
}

DeviceNode Node(const std::string& path, const std::string& host_path = "") {
  DeviceNode node;
  node.path = path;
  node.host_path = host_path;
  return node;
}

Spec WithDevice(const std::string& name, Edits edits) {
  return {"v/c", {}, {{name, {}, std::move(edits)}}, {}};
}

TEST(CdiVersion, IsTheMinimumThatTheContentNeeds) {
  Edits plain;
  plain.env = {"A=1"};
  EXPECT_EQ(MinimumVersion(WithDevice("a", plain)), Version::k0_3_0);
  EXPECT_EQ(MinimumVersion(WithDevice("0", plain)), Version::k0_5_0);

  Edits edits = plain;
  edits.mounts = {{"/a", "/b", "bind", {}}};
  EXPECT_EQ(MinimumVersion(WithDevice("a", edits)), Version::k0_4_0);
  edits.device_nodes = {Node("/dev/x", "/r/dev/x")};
  EXPECT_EQ(MinimumVersion(WithDevice("a", edits)), Version::k0_5_0);
  edits.additional_gids = {44};
  EXPECT_EQ(MinimumVersion(WithDevice("a", edits)), Version::k0_7_0);
  edits.net_devices = {{"eth1", "net1"}};
  EXPECT_EQ(MinimumVersion(WithDevice("a", edits)), Version::k1_1_0);

  Spec spec = WithDevice("a", plain);
  spec.annotations = {{"a", "b"}};
  EXPECT_EQ(MinimumVersion(spec), Version::k0_6_0);
  spec = WithDevice("a", plain);
  spec.kind = "v/gpu.coherent";
  EXPECT_EQ(MinimumVersion(spec), Version::k0_6_0);
  spec.kind = "v.com/gpu";
  EXPECT_EQ(MinimumVersion(spec), Version::k0_3_0);
}

TEST(CdiVersion, MayHaveALeadingV) { EXPECT_EQ(*ParseVersion("v0.6.0"), Version::k0_6_0); }

TEST(CdiFinish, SortsRemovesRepetitionsAndAddsTheUnion) {
  Edits first;
  first.device_nodes = {Node("/dev/dri/card1"), Node("/dev/nvidia1"), Node("/dev/a")};
  Edits second;
  second.device_nodes = {Node("/dev/nvidia0"), Node("/dev/nvidia0")};
  Spec spec{"v/c", {}, {{"b", {}, first}, {"a", {}, second}}, {}};
  spec.edits.device_nodes = {Node("/dev/a")};
  Finish(spec, true);

  ASSERT_EQ(spec.devices.size(), 3U);
  EXPECT_EQ(spec.devices[0].name, "a");
  EXPECT_EQ(spec.devices[1].name, "all");
  EXPECT_EQ(spec.devices[2].name, "b");
  const std::vector<DeviceNode> of_a = {Node("/dev/nvidia0")};
  const std::vector<DeviceNode> of_b = {Node("/dev/nvidia1"), Node("/dev/dri/card1")};
  EXPECT_EQ(spec.devices[0].edits.device_nodes, of_a);
  EXPECT_EQ(spec.devices[2].edits.device_nodes, of_b);
  EXPECT_EQ(spec.devices[1].edits.device_nodes.size(), 3U);

  const Spec once = spec;
  Finish(spec, true);
  EXPECT_EQ(spec, once);
}

TEST(CdiFinish, LeavesNoDeviceEmpty) {
  Edits edits;
  edits.env = {"A=1"};
  Spec spec = WithDevice("a", edits);
  spec.edits = edits;
  Finish(spec, false);
  EXPECT_EQ(spec.devices.front().edits, edits);
}

}  // namespace
}  // namespace pawl::cdi
