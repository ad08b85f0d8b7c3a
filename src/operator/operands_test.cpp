#include "operator/operands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/yaml.h"
#include "kube/object.h"

// Golden files. After an intended change, look at the difference that this makes:
//   build/release/bin/operator_test --gtest_also_run_disabled_tests --gtest_filter='*Regenerate*'
namespace pawl::op {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Golden(std::string_view name) {
  return std::string("src/operator/testdata/") + std::string(name);
}

json::value Stored(std::string_view spec) {
  json::value object = ParseYaml(
                           "{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: {name: "
                           "cluster-policy, uid: 0b5a}}")
                           .value();
  object.as_object()["spec"] = ParseYaml(spec).value();
  return object;
}

std::string Rendered(std::string_view spec) {
  const json::value stored = Stored(spec);
  const OperandContext context = {"gpu-operator", "localhost/pawl:dev", &stored};
  const auto policy = api::ParseClusterPolicy(stored);
  if (!policy) return policy.error().message();
  const auto object = AgentDaemonSet(*policy, context);
  return object ? ToYaml(*object) : object.error().message();
}

struct Case {
  const char* golden;
  const char* spec;
};

constexpr Case kCases[] = {
    {"agent-defaults.yaml", "{driver: {enabled: false}, mig: {strategy: single}}"},
    {"agent-everything.yaml", R"(
daemonsets:
  labels: {app: x, team: y}
  annotations: {note: z}
  priorityClassName: critical
  podSecurityContext: {fsGroup: 7}
  rollingUpdate: {maxUnavailable: "10%"}
toolkit: {installDir: /opt/nvidia, imagePullSecrets: [a]}
validator: {repository: mirror/nvidia, image: pawl, version: v1, imagePullPolicy: Always, imagePullSecrets: [b, a]}
devicePlugin: {resources: {limits: {cpu: 1000m, memory: 64Mi}}}
gfd: {enabled: false}
mig: {strategy: mixed}
hostPaths: {rootFS: /host2, driverInstallDir: /opt/drv}
)"},
    {"agent-on-delete.yaml", R"(
daemonsets: {updateStrategy: OnDelete}
devicePlugin: {enabled: false}
)"},
};

class AgentObject : public testing::TestWithParam<Case> {};

TEST_P(AgentObject, IsTheGoldenFile) {
  const auto golden = ReadFile(Golden(GetParam().golden));
  ASSERT_TRUE(golden) << golden.error().message();
  EXPECT_EQ(Rendered(GetParam().spec), *golden);
}

INSTANTIATE_TEST_SUITE_P(Golden, AgentObject, testing::ValuesIn(kCases), [](const auto& instance) {
  std::string name = instance.param.golden;
  for (char& letter : name) {
    if (letter == '-' || letter == '.') letter = '_';
  }
  return name;
});

TEST(AgentObject, DISABLED_Regenerate) {
  for (const Case& one : kCases) {
    ASSERT_TRUE(WriteFileAtomic(Golden(one.golden), Rendered(one.spec)));
  }
}

TEST(AgentObject, IsRefusedForHalfAnImage) {
  EXPECT_THAT(Rendered("{validator: {repository: r}}"),
              testing::StartsWith("spec.validator: invalid image specification"));
}

// spec/api.md vector 24.
TEST(AgentObject, TakesUsersLabelsButNotItsOwn) {
  const json::value object =
      ParseYaml(Rendered("{daemonsets: {labels: {app: x, team: y}}}")).value();
  EXPECT_EQ(TextAt(object, {"metadata", "labels", "app"}), "x");
  EXPECT_EQ(TextAt(object, {"metadata", "labels", "team"}), "y");
  EXPECT_EQ(TextAt(object, {"spec", "template", "metadata", "labels", "app"}),
            "nvidia-device-plugin-daemonset");
  EXPECT_EQ(TextAt(object, {"spec", "template", "metadata", "labels", "team"}), "y");
}

// spec/operator.md §15, vector 24.
TEST(RuntimeClasses, DependOnCdiAndNri) {
  api::ClusterPolicy policy;
  EXPECT_THAT(RuntimeClassNames(policy), ElementsAre("nvidia", "nvidia-cdi", "nvidia-legacy"));
  policy.cdi_enabled = false;
  EXPECT_THAT(RuntimeClassNames(policy), ElementsAre("nvidia"));
  policy.runtime_class = "gpu";
  EXPECT_THAT(RuntimeClassNames(policy), ElementsAre("gpu"));
  policy.cdi_enabled = true;
  policy.nri_enabled = true;
  EXPECT_THAT(RuntimeClassNames(policy), IsEmpty());
}

TEST(RuntimeClasses, BelongToThePolicyAndNameTheirHandler) {
  const json::value stored = Stored("{}");
  const OperandContext context = {"gpu-operator", "", &stored};
  EXPECT_EQ(
      ToJson(RuntimeClass("nvidia-cdi", context)),
      R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"nvidia-cdi",)"
      R"("ownerReferences":[{"apiVersion":"nvidia.com/v1","kind":"ClusterPolicy",)"
      R"("name":"cluster-policy","uid":"0b5a","controller":true,"blockOwnerDeletion":true}],)"
      R"("labels":{"app.kubernetes.io/component":"gpu-operator"}},"handler":"nvidia-cdi"})");
}

}  // namespace
}  // namespace pawl::op
