#include "operator/decide.h"

#include <algorithm>

#include "base/text.h"
#include "kube/object.h"
#include "operator/labels.h"
#include "operator/names.h"
#include "operator/operands.h"
#include "operator/status.h"

namespace pawl::op {
namespace {

constexpr size_t kMostNodesNamed = 3;  // in a message

// One pass over a view. Collects what the parts find out.
class Pass {
 public:
  explicit Pass(const ClusterView& view) : view_(view) {}

  Decision Run();

 private:
  void LabelNodes(const api::ClusterPolicy& policy);
  void KeepRuntimeClasses(const api::ClusterPolicy& policy);
  void KeepAgent(const api::ClusterPolicy& policy);
  bool MayBeApplied(const json::value& daemonset);
  void ApplyUnlessThere(const kube::Resource& resource, json::object wanted,
                        const ObjectPointer& live, std::string_view state);
  bool IsOurs(const json::value& object) const;

  Outcome Judge(const api::ClusterPolicy& policy);
  void JudgeNodes(std::vector<std::string>& details) const;
  void SetStatus(const json::value& policy, const Outcome& outcome,
                 const std::vector<std::string>& warnings);
  OperandContext Context() const { return {view_.ns, view_.agent_image, active_.get()}; }

  const ClusterView& view_;
  ObjectPointer active_;
  Decision decision_;
  std::vector<std::shared_ptr<const Node>> agent_nodes_;  // where the agent has to run
  std::vector<std::string> errors_;                       // what keeps the policy from being done
};

std::string FailedState(std::string_view state, std::string_view why) {
  return "Failed to reconcile " + std::string(state) + ": " + std::string(why);
}

std::string LiveVersion(const ObjectPointer& live) {
  return live == nullptr ? "" : kube::ResourceVersion(*live);
}

Decision Pass::Run() {
  for (const auto& node : view_.nodes) decision_.summary.has_nfd_labels |= node->has_nfd;
  active_ = ActivePolicy(view_.policies);
  for (const ObjectPointer& other : view_.policies) {
    if (other == active_) continue;
    const Outcome ignored = {
        false, "ignored", "Ignored",
        "ClusterPolicy " + kube::Name(*active_) + " is older and counts; only one may exist"};
    SetStatus(*other, ignored, {});
  }
  if (active_ == nullptr || kube::IsDeleting(*active_)) return std::move(decision_);

  const Result<api::ClusterPolicy> policy = api::ParseClusterPolicy(*active_);
  Status valid = policy ? api::ValidateClusterPolicy(*policy) : Fail(policy.error());
  if (!valid) {
    SetStatus(*active_, {false, "notReady", "ReconcileFailed", valid.error().message()}, {});
    return std::move(decision_);
  }
  LabelNodes(*policy);
  KeepAgent(*policy);
  KeepRuntimeClasses(*policy);
  const Outcome outcome = Judge(*policy);
  decision_.summary.reconciliation_status = outcome.good ? 1 : 0;
  SetStatus(*active_, outcome, policy->warnings);
  return std::move(decision_);
}

void Pass::LabelNodes(const api::ClusterPolicy& policy) {
  for (const auto& node : view_.nodes) {
    LabelChanges changes = WantedLabelChanges(*node, policy);
    const kube::Labels after = changes.empty() ? node->labels : WithChanges(node->labels, changes);
    const auto present = after.find(kGpuPresent);
    if (present != after.end() && present->second == "true") ++decision_.summary.gpu_nodes;
    const auto deploy = after.find(kDeployAgent);
    if (deploy != after.end() && deploy->second == "true") agent_nodes_.push_back(node);
    if (changes.empty()) continue;
    const bool has_gpu = HasGpu(node->labels);
    PatchNode patch = {node->name, node->resource_version, std::move(changes)};
    decision_.actions.push_back(
        {std::move(patch), "", has_gpu ? "it has an NVIDIA GPU" : "it has no NVIDIA GPU any more"});
  }
}

// Ours is what this ClusterPolicy controls. What others made under the same name, as some
// distributions do with RuntimeClass nvidia, is left alone.
bool Pass::IsOurs(const json::value& object) const {
  const std::optional<kube::Owner> owner = kube::ControllerOf(object);
  return owner && owner->kind == kClusterPolicies.kind && owner->uid == kube::Uid(*active_);
}

void Pass::ApplyUnlessThere(const kube::Resource& resource, json::object wanted,
                            const ObjectPointer& live, std::string_view state) {
  if (live != nullptr && kube::IsSubset(wanted, *live)) return;
  const char* why = live == nullptr ? "it is missing" : "it differs from what is wanted";
  decision_.actions.push_back(
      {ApplyObject{resource, std::move(wanted), "", LiveVersion(live)}, std::string(state), why});
}

void Pass::KeepRuntimeClasses(const api::ClusterPolicy& policy) {
  const std::vector<std::string> wanted = RuntimeClassNames(policy);
  for (const std::string& name : wanted) {
    const ObjectPointer live = FindByName(view_.runtime_classes, name);
    if (live != nullptr && !IsOurs(*live)) continue;
    ApplyUnlessThere(kube::kRuntimeClasses, RuntimeClass(name, Context()), live,
                     kStatePrerequisites);
  }
  for (const ObjectPointer& live : view_.runtime_classes) {
    const std::string name = kube::Name(*live);
    if (!IsOurs(*live) || kube::IsDeleting(*live)) continue;
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) continue;
    DeleteObject gone = {kube::kRuntimeClasses, "", name, kube::Uid(*live)};
    decision_.actions.push_back({std::move(gone), std::string(kStatePrerequisites),
                                 "the policy does not want it any more"});
  }
}

void Pass::KeepAgent(const api::ClusterPolicy& policy) {
  const ObjectPointer live = FindByName(view_.daemonsets, kAgentName);
  if (!WantsAgent(policy)) {
    if (live == nullptr || !IsOurs(*live) || kube::IsDeleting(*live)) return;
    DeleteObject gone = {kube::kDaemonSets, view_.ns, std::string(kAgentName), kube::Uid(*live)};
    decision_.actions.push_back({std::move(gone), std::string(kStateDevicePlugin),
                                 "the policy has switched off every part of it"});
    return;
  }
  if (live != nullptr && !MayBeApplied(*live)) return;
  // Not before there is a GPU node, as upstream (spec/operator.md §5).
  if (live == nullptr && decision_.summary.gpu_nodes == 0) return;
  Result<json::object> wanted = AgentDaemonSet(policy, Context());
  if (!wanted) {
    errors_.push_back(FailedState(kStateDevicePlugin, wanted.error().message()));
    return;
  }
  Stamp(*wanted);
  ApplyUnlessThere(kube::kDaemonSets, std::move(*wanted), live, kStateDevicePlugin);
}

// What goes is made again once it is gone; so is that of an earlier ClusterPolicy, which garbage
// collection takes. Anybody else's is not ours to change.
bool Pass::MayBeApplied(const json::value& daemonset) {
  if (kube::IsDeleting(daemonset)) return false;
  if (IsOurs(daemonset)) return true;
  const std::optional<kube::Owner> owner = kube::ControllerOf(daemonset);
  if (!owner || owner->kind != kClusterPolicies.kind) {
    errors_.push_back(FailedState(
        kStateDevicePlugin, "DaemonSet " + kube::KeyOf(daemonset).Text() +
                                " is there and was made by somebody else; it has to go first"));
  }
  return false;
}

// What each node's agent says, of those that are not there yet.
void Pass::JudgeNodes(std::vector<std::string>& details) const {
  size_t unnamed = 0;
  for (const auto& node : agent_nodes_) {
    const GpuCondition& condition = node->gpu_ready;
    if (condition.status == "True") continue;
    if (details.size() == kMostNodesNamed) {
      ++unnamed;
      continue;
    }
    std::string text = "node " + node->name + ": ";
    if (condition.status.empty()) {
      text += "its agent has not reported yet";
    } else {
      text += condition.reason;
      if (!condition.message.empty()) text += ": " + condition.message;
    }
    details.push_back(std::move(text));
  }
  if (unnamed > 0) details.push_back("and " + std::to_string(unnamed) + " more nodes");
}

Outcome Pass::Judge(const api::ClusterPolicy& policy) {
  for (const auto& [subject, failure] : view_.failures) {
    if (!failure.state.empty()) errors_.push_back(FailedState(failure.state, failure.message));
  }
  if (!errors_.empty()) return {false, "notReady", "ReconcileFailed", Join(errors_, "; ")};

  if (decision_.summary.gpu_nodes == 0) {
    if (!decision_.summary.has_nfd_labels) {
      return {true, "ready", "NFDLabelsMissing",
              "No node has labels of feature.node.kubernetes.io/ yet; GPUs cannot be seen"};
    }
    return {true, "ready", "NoGPUNodes", "No node has an NVIDIA GPU; nothing is to be done"};
  }
  if (WantsAgent(policy)) {
    std::vector<std::string> details;
    JudgeNodes(details);
    const ObjectPointer live = FindByName(view_.daemonsets, kAgentName);
    const auto expected = static_cast<int64_t>(agent_nodes_.size());
    if (!details.empty() || live == nullptr || !IsOurs(*live) || kube::IsDeleting(*live) ||
        !IsRolledOut(*live, expected)) {
      const std::string_view state = policy.device_plugin_enabled ? kStateDevicePlugin
                                     : policy.toolkit_enabled     ? kStateToolkit
                                                                  : kStateFeatureDiscovery;
      return {false, "notReady", "OperandNotReady", NotReadyMessage({std::string(state)}, details)};
    }
  }
  return {true, "ready", "Reconciled", "All operands are ready on every GPU node"};
}

void Pass::SetStatus(const json::value& policy, const Outcome& outcome,
                     const std::vector<std::string>& warnings) {
  std::optional<json::object> wanted = WantedStatus(policy, outcome, warnings, view_.ns, view_.now);
  if (!wanted) return;
  decision_.actions.push_back(
      {ApplyObject{kClusterPolicies, std::move(*wanted), "status", kube::ResourceVersion(policy)},
       "", outcome.reason});
}

}  // namespace

Decision Decide(const ClusterView& view) { return Pass(view).Run(); }

}  // namespace pawl::op
