#include "operator/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "kube/object.h"
#include "operator/names.h"
#include "operator/status.h"
#include "operator/testing_cluster.h"

namespace pawl::op {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_cluster;

constexpr const char* kPci = "feature.node.kubernetes.io/pci-10de.present";
constexpr const char* kPlainSpec = "{driver: {enabled: false}, mig: {strategy: single}}";

ClusterView View(std::string_view spec = kPlainSpec) {
  ClusterView view;
  view.now = WallTime(std::chrono::seconds(1767225600));
  view.ns = "gpu-operator";
  view.agent_image = "localhost/pawl:dev";
  view.policies = {MakePolicy("cluster-policy", "2026-01-01T00:00:00Z", spec)};
  return view;
}

std::vector<std::string> Subjects(const Decision& decision) {
  std::vector<std::string> subjects;
  for (const Action& action : decision.actions) subjects.push_back(Subject(action));
  return subjects;
}

// Decides and carries out until nothing is left to do; more than a few rounds is a failure.
void Settle(ClusterView& view) {
  for (int round = 0; round < 3; ++round) {
    const Decision decision = Decide(view);
    if (decision.actions.empty()) return;
    CarryOut(decision.actions, view);
  }
  EXPECT_THAT(Subjects(Decide(view)), IsEmpty());
}

std::string ConditionText(const ClusterView& view, std::string_view type,
                          std::string_view policy = "cluster-policy") {
  const json::value* condition = kube::Condition(*FindByName(view.policies, policy), type);
  if (condition == nullptr) return "absent";
  std::string text = TextAt(*condition, {"status"}) + " " + TextAt(*condition, {"reason"});
  const std::string message = TextAt(*condition, {"message"});
  return message.empty() ? text : text + ": " + message;
}

std::string State(const ClusterView& view, std::string_view policy = "cluster-policy") {
  return TextAt(*FindByName(view.policies, policy), {"status", "state"});
}

TEST(Decide, DoesNothingWithoutAClusterPolicy) {
  ClusterView view = View();
  view.policies.clear();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  EXPECT_THAT(Decide(view).actions, IsEmpty());
  EXPECT_EQ(Decide(view).summary.reconciliation_status, -1);
}

TEST(Decide, LabelsTheNodeAndMakesTheAgentInOnePass) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}}), MakeNode("n2", {})};
  EXPECT_THAT(Subjects(Decide(view)),
              ElementsAre("Node n1", "DaemonSet gpu-operator/nvidia-device-plugin-daemonset",
                          "RuntimeClass nvidia", "RuntimeClass nvidia-cdi",
                          "RuntimeClass nvidia-legacy", "ClusterPolicy cluster-policy status"));
  EXPECT_EQ(Decide(view).summary.gpu_nodes, 1);
}

TEST(Decide, MakesNoAgentWithoutGpuNodes) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{"feature.node.kubernetes.io/kernel-version.major", "6"}})};
  Settle(view);
  EXPECT_THAT(view.daemonsets, IsEmpty());
  EXPECT_THAT(ConditionText(view, "Ready"), HasSubstr("True NoGPUNodes"));
  EXPECT_EQ(State(view), "ready");
}

TEST(Decide, SaysThatNobodyLooksForGpus) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {})};
  Settle(view);
  EXPECT_THAT(ConditionText(view, "Ready"), HasSubstr("True NFDLabelsMissing"));
  EXPECT_EQ(ConditionText(view, "Error"), "False Ready");
}

// spec/operator.md §15 vectors 25 and 26.
TEST(Decide, TurnsReadyWhenEveryNodeIs) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  Settle(view);
  EXPECT_EQ(State(view), "notReady");
  EXPECT_EQ(ConditionText(view, "Ready"), "False Error");
  EXPECT_EQ(ConditionText(view, "Error"),
            "True OperandNotReady: ClusterPolicy is not ready; states not ready: "
            "[state-device-plugin]; node n1: its agent has not reported yet");

  view.nodes = {MakeNode("n1", view.nodes[0]->labels,
                         {"False", "DriverNotFound", "driver: no libnvidia-ml.so.1 on the host"})};
  Settle(view);
  EXPECT_THAT(ConditionText(view, "Error"),
              HasSubstr("; node n1: DriverNotFound: driver: no libnvidia-ml.so.1 on the host"));

  view.nodes = {MakeNode("n1", view.nodes[0]->labels, {"True", "AllHealthy", ""})};
  RollOut(view, 1);
  Settle(view);
  EXPECT_EQ(State(view), "ready");
  EXPECT_THAT(ConditionText(view, "Ready"), HasSubstr("True Reconciled"));
  EXPECT_EQ(ConditionText(view, "Error"), "False Ready");
  EXPECT_EQ(Decide(view).summary.reconciliation_status, 1);
}

TEST(NotReadyMessage, IsUpstreamsText) {
  EXPECT_EQ(NotReadyMessage({"state-driver", "state-dcgm"}, {}),
            "ClusterPolicy is not ready; states not ready: [state-driver state-dcgm]");
}

TEST(Decide, IsNotReadyBeforeTheDaemonSetHasSeenTheNode) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}}, {"True", "AllHealthy", ""})};
  Settle(view);
  RollOut(view, 0);
  Settle(view);
  EXPECT_EQ(State(view), "notReady");
}

TEST(Decide, NamesAFewNodesAndCountsTheRest) {
  ClusterView view = View();
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) {
    view.nodes.push_back(MakeNode(name, {{kPci, "true"}}, {"False", "ToolkitFailed", ""}));
  }
  Settle(view);
  EXPECT_THAT(ConditionText(view, "Error"), HasSubstr("node n3: ToolkitFailed; and 2 more nodes"));
}

TEST(Decide, KeepsTheTransitionTimeWhileTheStatusStays) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  Settle(view);
  view.now += std::chrono::hours(1);
  view.nodes = {MakeNode("n1", view.nodes[0]->labels, {"False", "DriverNotFound", ""})};
  Settle(view);
  const json::value* error = kube::Condition(*view.policies[0], "Error");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(TextAt(*error, {"lastTransitionTime"}), "2026-01-01T00:00:00Z");
}

TEST(Decide, RepairsWhatSomebodyChanged) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  Settle(view);
  json::object daemonset = view.daemonsets[0]->as_object();
  daemonset["spec"].at("template").at("spec").as_object()["hostNetwork"] = false;
  view.daemonsets[0] = std::make_shared<const json::value>(daemonset);
  EXPECT_THAT(Subjects(Decide(view)),
              ElementsAre("DaemonSet gpu-operator/nvidia-device-plugin-daemonset"));
}

// Replaces the spec of the policy.
void SetSpec(ClusterView& view, std::string_view spec) {
  json::object policy = view.policies[0]->as_object();
  policy["spec"] = MakePolicy("x", "", spec)->at("spec");
  view.policies[0] = std::make_shared<const json::value>(std::move(policy));
}

TEST(Decide, TakesOffWhatThePolicyAsksForNoMore) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  Settle(view);
  const auto without_hash = [&view] {
    json::object daemonset = view.daemonsets[0]->as_object();
    daemonset["metadata"].as_object().erase("annotations");
    daemonset["metadata"].as_object().erase("managedFields");
    return ToJson(daemonset);
  };
  const std::string before = without_hash();
  SetSpec(view,
          "{driver: {enabled: false}, mig: {strategy: single}, daemonsets: {labels: {team: a}, "
          "podSecurityContext: {runAsUser: 7}}, devicePlugin: {resources: {limits: {cpu: 1}}}}");
  Settle(view);
  EXPECT_EQ(kube::Label(*view.daemonsets[0], "team"), "a");
  EXPECT_NE(without_hash(), before);
  SetSpec(view, kPlainSpec);
  Settle(view);
  EXPECT_EQ(kube::Label(*view.daemonsets[0], "team"), std::nullopt);
  EXPECT_EQ(without_hash(), before);
}

TEST(Decide, LeavesForeignRuntimeClassesAlone) {
  ClusterView view = View("{driver: {enabled: false}, cdi: {enabled: false}}");
  json::object foreign = kube::NewObject(kube::kRuntimeClasses, "", "nvidia");
  foreign["handler"] = "nvidia";
  view.runtime_classes = {std::make_shared<const json::value>(foreign)};
  EXPECT_THAT(Subjects(Decide(view)), ElementsAre("ClusterPolicy cluster-policy status"));
}

// A DaemonSet of the agent's name under this controller.
ObjectPointer ForeignAgent(std::string_view kind, std::string_view uid) {
  json::object object =
      kube::NewObject(kube::kDaemonSets, "gpu-operator", "nvidia-device-plugin-daemonset");
  if (!kind.empty()) {
    json::object owner = {{"kind", kind}, {"name", "x"}, {"uid", uid}, {"controller", true}};
    owner["apiVersion"] = "nvidia.com/v1";
    object["metadata"].as_object()["ownerReferences"] = json::array{std::move(owner)};
  }
  return std::make_shared<const json::value>(std::move(object));
}

TEST(Decide, DoesNotTouchADaemonSetOfSomebodyElse) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}}, {"True", "AllHealthy", ""})};
  view.daemonsets = {ForeignAgent("", "")};
  RollOut(view, 1);
  Settle(view);
  EXPECT_EQ(view.daemonsets.size(), 1u);
  EXPECT_THAT(ConditionText(view, "Error"), HasSubstr("was made by somebody else"));
}

TEST(Decide, WaitsForTheDaemonSetOfAnEarlierPolicyToGo) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}}, {"True", "AllHealthy", ""})};
  view.daemonsets = {ForeignAgent("ClusterPolicy", "earlier")};
  RollOut(view, 1);
  Settle(view);
  EXPECT_THAT(ConditionText(view, "Error"), HasSubstr("True OperandNotReady"));
  view.daemonsets.clear();
  EXPECT_THAT(Subjects(Decide(view)),
              ElementsAre("DaemonSet gpu-operator/nvidia-device-plugin-daemonset"));
}

TEST(Decide, RemovesRuntimeClassesThatAreNotWantedAnyMore) {
  ClusterView view = View();
  Settle(view);
  ASSERT_EQ(view.runtime_classes.size(), 3u);
  const ObjectPointer before = view.policies[0];
  json::object changed = before->as_object();
  changed["spec"].as_object()["cdi"] = json::object{{"nriPluginEnabled", true}};
  view.policies[0] = std::make_shared<const json::value>(changed);
  Settle(view);
  EXPECT_THAT(view.runtime_classes, IsEmpty());
}

TEST(Decide, RemovesTheAgentWhenAllItsPartsAreOff) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  Settle(view);
  ASSERT_EQ(view.daemonsets.size(), 1u);
  json::object changed = view.policies[0]->as_object();
  for (const char* part : {"toolkit", "devicePlugin", "gfd"}) {
    changed["spec"].as_object()[part] = json::object{{"enabled", false}};
  }
  view.policies[0] = std::make_shared<const json::value>(changed);
  Settle(view);
  EXPECT_THAT(view.daemonsets, IsEmpty());
  EXPECT_EQ(State(view), "ready");
}

// spec/operator.md §15 vector 16.
TEST(Decide, DoesNothingForAPolicyThatCannotWork) {
  ClusterView view = View("{cdi: {enabled: false, nriPluginEnabled: true}}");
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  EXPECT_THAT(Subjects(Decide(view)), ElementsAre("ClusterPolicy cluster-policy status"));
  Settle(view);
  EXPECT_EQ(State(view), "notReady");
  EXPECT_EQ(ConditionText(view, "Error"),
            "True ReconcileFailed: the NRI Plugin cannot be enabled when CDI is disabled");
}

TEST(Decide, NamesTheFieldThatCannotBeRead) {
  ClusterView view = View("{mig: {strategy: double}}");
  Settle(view);
  EXPECT_THAT(ConditionText(view, "Error"), HasSubstr("ReconcileFailed: spec.mig.strategy"));
}

TEST(Decide, ReportsWhatTheApiServerRefused) {
  ClusterView view = View();
  view.nodes = {MakeNode("n1", {{kPci, "true"}})};
  view.failures["DaemonSet gpu-operator/nvidia-device-plugin-daemonset"] = {
      std::string(kStateDevicePlugin), "Forbidden (403): no"};
  Settle(view);
  EXPECT_EQ(ConditionText(view, "Error"),
            "True ReconcileFailed: Failed to reconcile state-device-plugin: Forbidden (403): no");
}

// spec/api.md vector 28.
TEST(Decide, HeedsTheOldestPolicyAndMarksTheOthers) {
  ClusterView view = View();
  view.policies = {MakePolicy("newer", "2026-01-02T00:00:00Z", kPlainSpec),
                   MakePolicy("older", "2026-01-01T00:00:00Z", kPlainSpec)};
  Settle(view);
  EXPECT_EQ(State(view, "newer"), "ignored");
  EXPECT_EQ(State(view, "older"), "ready");
  EXPECT_THAT(ConditionText(view, "Error", "newer"),
              HasSubstr("True Ignored: ClusterPolicy older"));
}

TEST(Decide, ListsFieldsWithoutEffectUntilTheyAreGone) {
  ClusterView view = View("{driver: {enabled: true}}");
  Settle(view);
  EXPECT_THAT(ConditionText(view, "ConfigWarnings"), HasSubstr("spec.driver.enabled"));
  json::object changed = view.policies[0]->as_object();
  changed["spec"] = json::object{{"driver", json::object{{"enabled", false}}}};
  view.policies[0] = std::make_shared<const json::value>(changed);
  Settle(view);
  EXPECT_EQ(ConditionText(view, "ConfigWarnings"), "absent");
}

TEST(Decide, WritesToOneNodeOfManyWhenOneChanged) {
  ClusterView view = View();
  for (int i = 0; i < 5000; ++i) {
    view.nodes.push_back(
        MakeNode("n" + std::to_string(i), {{kPci, "true"}}, {"True", "AllHealthy", ""}));
  }
  Settle(view);
  RollOut(view, 5000);
  Settle(view);
  kube::Labels labels = view.nodes[1234]->labels;
  labels.erase("nvidia.com/gpu.deploy.dcgm");
  view.nodes[1234] = MakeNode("n1234", labels, {"True", "AllHealthy", ""});
  EXPECT_THAT(Subjects(Decide(view)), ElementsAre("Node n1234"));
}

// Whatever the cluster looks like, doing all that was decided leaves nothing to do.
TEST(Decide, IsIdempotentForAnyCluster) {
  std::mt19937 random(20260101);
  const auto chance = [&random](int of) {
    return static_cast<int>(random() % static_cast<unsigned>(of));
  };
  const std::vector<std::string> specs = {
      kPlainSpec,
      "{cdi: {enabled: false}}",
      "{cdi: {nriPluginEnabled: true}, daemonsets: {labels: {a: b}, updateStrategy: OnDelete}}",
      "{devicePlugin: {enabled: false}, toolkit: {enabled: false}, gfd: {enabled: false}}",
      "{validator: {repository: r}}",
      "{mig: {strategy: 7}}",
      "{devicePlugin: {resources: {limits: {cpu: 1000m}}}, migManager: {config: {default: x}}}"};
  const std::vector<std::pair<std::string, std::string>> labels = {
      {kPci, "true"},
      {kPci, "false"},
      {"feature.node.kubernetes.io/pci-0302_10de.present", "true"},
      {"nvidia.com/gpu.present", "true"},
      {"nvidia.com/gpu.present", "false"},
      {"nvidia.com/mig.capable", "true"},
      {"nvidia.com/gpu.deploy.device-plugin", ""},
      {"nvidia.com/gpu.deploy.device-plugin", "false"},
      {"nvidia.com/gpu.deploy.mig-manager", "paused-for-driver-upgrade"},
      {"nvidia.com/gpu.deploy.vgpu-manager", "true"},
      {"nvidia.com/gpu.deploy.operands", "false"},
      {"nvidia.com/gpu.deploy.nvsm", "true"}};
  for (int trial = 0; trial < 2000; ++trial) {
    ClusterView view = View(specs[static_cast<size_t>(chance(static_cast<int>(specs.size())))]);
    for (int i = chance(4); i > 0; --i) {
      kube::Labels set;
      for (const auto& [key, value] : labels) {
        if (chance(3) == 0) set[key] = value;
      }
      GpuCondition condition;
      if (chance(2) == 0) condition = {chance(2) == 0 ? "True" : "False", "Reason", "text"};
      view.nodes.push_back(MakeNode("n" + std::to_string(i), std::move(set), condition));
    }
    if (chance(4) == 0) view.policies.push_back(MakePolicy("second", "2026-01-03T00:00:00Z", "{}"));
    if (chance(4) == 0) view.failures["x"] = {std::string(kStateDevicePlugin), "refused"};
    CarryOut(Decide(view).actions, view);
    if (chance(2) == 0) RollOut(view, chance(3));
    CarryOut(Decide(view).actions, view);
    ASSERT_THAT(Subjects(Decide(view)), IsEmpty()) << "trial " << trial;
  }
}

}  // namespace
}  // namespace pawl::op
