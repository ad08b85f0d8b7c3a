// The objects that the operator makes for a ClusterPolicy: the agent's DaemonSet and the
// RuntimeClasses (spec/operator.md §7, §9). Pure: each is the body of a server-side apply, all that
// we want of the object and nothing else.
//
// Service accounts, roles and the scout come with the chart, so the operator needs no right to give
// rights away.
#pragma once

#include <string>
#include <vector>

#include "api/cluster_policy.h"
#include "base/json.h"
#include "base/result.h"

namespace pawl::op {

struct OperandContext {
  std::string ns;
  std::string fallback_image;          // where the policy names none
  const json::value* owner = nullptr;  // the ClusterPolicy as it is stored; outlives the call
};

// Fails where the policy names half an image.
Result<json::object> AgentDaemonSet(const api::ClusterPolicy& policy,
                                    const OperandContext& context);

// Annotation whose value tells one wanted object from another, upstream's name. With it in what we
// apply, an object that has more than we want now, because an earlier policy asked for it, differs
// too: the API server then takes off what only we had applied.
inline constexpr std::string_view kAppliedHash = "nvidia.com/last-applied-hash";
void Stamp(json::object& wanted);

// Whether any part that the agent stands for is on.
bool WantsAgent(const api::ClusterPolicy& policy);

// The file that tells, once it exists, that the node has all its enabled stages behind it.
std::string ReadyFile(const api::ClusterPolicy& policy);

// Names of the RuntimeClasses that this policy wants (§15 vector 24), and one of them as an object.
std::vector<std::string> RuntimeClassNames(const api::ClusterPolicy& policy);
json::object RuntimeClass(std::string_view name, const OperandContext& context);

}  // namespace pawl::op
