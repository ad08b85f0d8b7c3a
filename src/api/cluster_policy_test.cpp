#include "api/cluster_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"

namespace pawl::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<ClusterPolicy> Parse(std::string_view spec) {
  json::object object = {{"metadata", {{"name", "cluster-policy"}, {"generation", 3}}}};
  object["spec"] = ParseYaml(spec).value();
  return ParseClusterPolicy(object);
}

TEST(ClusterPolicy, AnEmptySpecHasTheDefaultsOfTheApi) {
  const auto policy = Parse("{driver: {enabled: false}}");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->name, "cluster-policy");
  EXPECT_EQ(policy->generation, 3);
  EXPECT_EQ(policy->runtime_class, "nvidia");
  EXPECT_EQ(policy->daemonsets.priority_class, "system-node-critical");
  EXPECT_TRUE(policy->toolkit_enabled);
  EXPECT_TRUE(policy->device_plugin_enabled);
  EXPECT_TRUE(policy->gfd_enabled);
  EXPECT_TRUE(policy->cdi_enabled);
  EXPECT_FALSE(policy->nri_enabled);
  EXPECT_EQ(policy->install_dir, "/usr/local/nvidia");
  EXPECT_EQ(policy->mig_strategy, std::nullopt);
  EXPECT_EQ(policy->pull_policy, "IfNotPresent");
  EXPECT_THAT(policy->warnings, IsEmpty());
}

TEST(ClusterPolicy, ReadsWhatItHonours) {
  const auto policy = Parse(R"(
operator: {runtimeClass: gpu}
daemonsets:
  labels: {team: y}
  annotations: {a: b}
  priorityClassName: critical
  podSecurityContext: {runAsUser: 0}
  updateStrategy: RollingUpdate
  rollingUpdate: {maxUnavailable: "10%"}
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
driver: {enabled: false}
toolkit: {enabled: true, installDir: /opt/nvidia, imagePullSecrets: [a]}
validator: {repository: r, image: i, version: v1, imagePullPolicy: Always, imagePullSecrets: [b, a]}
devicePlugin: {enabled: false, resources: {limits: {memory: 64Mi}}, imagePullSecrets: [c]}
gfd: {enabled: false}
mig: {strategy: mixed}
migManager: {enabled: false, config: {default: ""}}
cdi: {enabled: true, nriPluginEnabled: true}
hostPaths: {rootFS: /host2, driverInstallDir: /run/nvidia/driver}
)");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->runtime_class, "gpu");
  EXPECT_EQ(policy->daemonsets.labels.at("team"), "y");
  EXPECT_EQ(policy->daemonsets.annotations.at("a"), "b");
  EXPECT_EQ(policy->daemonsets.priority_class, "critical");
  EXPECT_EQ(std::get<std::string>(policy->daemonsets.max_unavailable.value()), "10%");
  EXPECT_EQ(policy->install_dir, "/opt/nvidia");
  EXPECT_EQ(policy->image.version, "v1");
  EXPECT_EQ(policy->pull_policy, "Always");
  EXPECT_THAT(policy->pull_secrets, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(policy->device_plugin_enabled);
  EXPECT_FALSE(policy->gfd_enabled);
  EXPECT_EQ(ToJson(policy->resources), R"({"limits":{"memory":"64Mi"}})");
  EXPECT_EQ(policy->mig_strategy, "mixed");
  EXPECT_EQ(policy->mig_default_config, "");
  EXPECT_TRUE(policy->nri_enabled);
  EXPECT_EQ(policy->host_root, "/host2");
  EXPECT_THAT(policy->warnings, ElementsAre(HasSubstr("spec.cdi.nriPluginEnabled")));
}

TEST(ClusterPolicy, NamesEveryWrongFieldByItsPath) {
  const auto policy = Parse(R"(
driver: {enabled: "yes"}
toolkit: {installDir: usr/local}
mig: {strategy: double}
daemonsets: {rollingUpdate: {maxUnavailable: 10%abc}, labels: [x]}
gfd: 7
)");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().kind(), ErrorKind::kInvalid);
  EXPECT_THAT(policy.error().message(),
              HasSubstr("spec.driver.enabled: expected true or false, found \"yes\""));
  EXPECT_THAT(policy.error().message(), HasSubstr("spec.toolkit.installDir: expected an absolute"));
  EXPECT_THAT(
      policy.error().message(),
      HasSubstr("spec.mig.strategy: expected one of none, single, mixed, found \"double\""));
  EXPECT_THAT(policy.error().message(),
              HasSubstr("spec.daemonsets.rollingUpdate.maxUnavailable: expected a number"));
  EXPECT_THAT(policy.error().message(), HasSubstr("spec.daemonsets.labels: expected a map"));
  EXPECT_THAT(policy.error().message(), HasSubstr("spec.gfd: expected an object, found 7"));
}

TEST(ClusterPolicy, WarnsOfFieldsThatChangeNothing) {
  const auto policy = Parse(R"(
driver: {enabled: true, version: "580.65.06"}
dcgmExporter: {enabled: true}
dcgm: {enabled: false}
devicePlugin: {image: k8s-device-plugin, env: [{name: A, value: b}], args: []}
sandboxWorkloads: {enabled: false, defaultWorkload: container, mode: kubevirt}
migManager: {enabled: true}
cdi: {enabled: false, nriPluginEnabled: true}
gadget: {enabled: true}
)");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_THAT(policy->warnings,
              testing::UnorderedElementsAre(
                  HasSubstr("spec.driver.enabled: this version installs no driver"),
                  HasSubstr("spec.migManager.enabled: this version has no such component"),
                  HasSubstr("spec.cdi.enabled: this version always uses CDI"),
                  HasSubstr("spec.cdi.nriPluginEnabled: this version has no such plugin"),
                  "spec.dcgmExporter.enabled: this version has no such component",
                  "spec.devicePlugin.image: this version does nothing with it",
                  "spec.devicePlugin.env: this version does nothing with it",
                  "spec.gadget: this version does nothing with it"));
}

TEST(ClusterPolicy, RefusesTheNriPluginWithoutWhatItNeeds) {
  ClusterPolicy policy;
  policy.nri_enabled = true;
  EXPECT_TRUE(ValidateClusterPolicy(policy));

  policy.cdi_enabled = false;
  const Status without_cdi = ValidateClusterPolicy(policy);
  ASSERT_FALSE(without_cdi);
  EXPECT_EQ(without_cdi.error().message(), "the NRI Plugin cannot be enabled when CDI is disabled");

  policy.cdi_enabled = true;
  policy.toolkit_enabled = false;
  const Status without_toolkit = ValidateClusterPolicy(policy);
  ASSERT_FALSE(without_toolkit);
  EXPECT_EQ(without_toolkit.error().message(),
            "the NRI Plugin cannot be enabled when the Container Toolkit is disabled");
}

TEST(MaxUnavailable, IsANumberOrAPercentage) {
  EXPECT_EQ(std::get<int64_t>(ParseMaxUnavailable("1").value()), 1);
  EXPECT_EQ(std::get<std::string>(ParseMaxUnavailable("10%").value()), "10%");
  EXPECT_FALSE(ParseMaxUnavailable("10%abc"));
  EXPECT_FALSE(ParseMaxUnavailable("%"));
  EXPECT_FALSE(ParseMaxUnavailable("-1"));
}

TEST(PullPolicy, UnknownWordsBecomeIfNotPresent) {
  EXPECT_EQ(NormalisePullPolicy("Always"), "Always");
  EXPECT_EQ(NormalisePullPolicy("Never"), "Never");
  EXPECT_EQ(NormalisePullPolicy("always"), "IfNotPresent");
  EXPECT_EQ(NormalisePullPolicy(""), "IfNotPresent");
}

}  // namespace
}  // namespace pawl::api
