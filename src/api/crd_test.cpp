#include "api/crd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/yaml.h"

// The chart's file is made from the code. After a change:
//   build/release/bin/api_test --gtest_also_run_disabled_tests --gtest_filter='*Regenerate*'
namespace pawl::api {
namespace {

constexpr const char* kFile = "deploy/helm/pawl/crds/nvidia.com_clusterpolicies.yaml";

const json::value* SpecField(const json::value& crd, std::initializer_list<std::string_view> path) {
  const json::value* here = &crd.at("spec").at("versions").at(0).at("schema");
  here = FindPath(*here, {"openAPIV3Schema", "properties", "spec"});
  for (const std::string_view step : path) {
    if (here != nullptr) here = FindPath(*here, {"properties", step});
  }
  return here;
}

TEST(ClusterPolicyCrd, IsWhatTheChartInstalls) {
  const auto file = ReadFile(kFile);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(*file, ToYaml(ClusterPolicyCrd()));
}

TEST(ClusterPolicyCrd, DISABLED_Regenerate) {
  ASSERT_TRUE(WriteFileAtomic(kFile, ToYaml(ClusterPolicyCrd())));
}

TEST(ClusterPolicyCrd, HasTheFieldsAndDefaultsOfTheApi) {
  const json::value crd = ClusterPolicyCrd();
  for (const char* component :
       {"driver", "toolkit", "validator", "devicePlugin", "gfd", "dcgm", "dcgmExporter",
        "migManager", "nodeStatusExporter", "vgpuManager", "vfioManager", "ccManager"}) {
    EXPECT_NE(SpecField(crd, {component, "image"}), nullptr) << component;
    EXPECT_NE(SpecField(crd, {component, "resources", "limits"}), nullptr) << component;
    EXPECT_NE(SpecField(crd, {component, "env"}), nullptr) << component;
  }
  EXPECT_EQ(TextAt(*SpecField(crd, {"operator", "runtimeClass"}), {"default"}), "nvidia");
  EXPECT_EQ(TextAt(*SpecField(crd, {"toolkit", "installDir"}), {"default"}), "/usr/local/nvidia");
  EXPECT_EQ(SpecField(crd, {"cdi", "enabled"})->at("default"), true);
  EXPECT_EQ(
      SpecField(crd, {"driver", "upgradePolicy", "podDeletion", "timeoutSeconds"})->at("default"),
      300);
  EXPECT_EQ(SpecField(crd, {})->at("required").as_array().size(), 9u);
}

}  // namespace
}  // namespace pawl::api
