#include "operator/status.h"

#include "base/text.h"
#include "kube/object.h"
#include "operator/names.h"

namespace pawl::op {
namespace {

constexpr size_t kMostMessage = 2048;  // of metav1.Condition's 32768: for people to read

struct Condition {
  std::string type;
  bool status = false;
  std::string reason;
  std::string message;
};

std::vector<Condition> Conditions(const Outcome& outcome,
                                  const std::vector<std::string>& warnings) {
  std::vector<Condition> conditions;
  if (outcome.good) {
    conditions.push_back({"Ready", true, outcome.reason, outcome.message});
    conditions.push_back({"Error", false, "Ready", ""});
  } else {
    conditions.push_back({"Ready", false, "Error", ""});
    conditions.push_back({"Error", true, outcome.reason, outcome.message});
  }
  if (!warnings.empty()) {
    conditions.push_back({"ConfigWarnings", true, "FieldsWithoutEffect", Join(warnings, "; ")});
  }
  return conditions;
}

json::object ToJsonValue(const Condition& condition, const json::value& live, WallTime now) {
  const std::string_view status = condition.status ? "True" : "False";
  std::string since = ToRfc3339(now);
  const json::value* before = kube::Condition(live, condition.type);
  if (before != nullptr && TextAt(*before, {"status"}) == status) {
    since = TextAt(*before, {"lastTransitionTime"}, since);
  }
  std::string message = condition.message;
  if (message.size() > kMostMessage) message = message.substr(0, kMostMessage) + "…";
  json::object out = {{"type", condition.type},
                      {"status", status},
                      {"reason", condition.reason},
                      {"message", message},
                      {"lastTransitionTime", since}};
  out["observedGeneration"] = kube::Generation(live);
  return out;
}

// Other writers may keep conditions of their own beside ours.
bool SaysIt(const json::value& live, const json::object& status) {
  for (const auto& member : status) {
    if (member.key() == "conditions") continue;
    const json::value* have = FindPath(live, {"status", member.key()});
    if (have == nullptr || *have != member.value()) return false;
  }
  bool has_warnings = false;
  for (const json::value& condition : status.at("conditions").as_array()) {
    const std::string type = TextAt(condition, {"type"});
    if (type == "ConfigWarnings") has_warnings = true;
    const json::value* have = kube::Condition(live, type);
    if (have == nullptr || !kube::IsSubset(condition, *have)) return false;
  }
  return has_warnings || kube::Condition(live, "ConfigWarnings") == nullptr;
}

int64_t Count(const json::value& object, std::string_view field) {
  const json::value* value = FindPath(object, {"status", field});
  boost::system::error_code error;
  const int64_t number = value == nullptr ? 0 : value->to_number<int64_t>(error);
  return error ? 0 : number;
}

}  // namespace

bool IsRolledOut(const json::value& daemonset, int64_t expected_nodes) {
  if (Count(daemonset, "observedGeneration") < kube::Generation(daemonset)) return false;
  const int64_t desired = Count(daemonset, "desiredNumberScheduled");
  if (desired < expected_nodes) return false;  // it has not seen the node's label yet
  if (desired == 0) return true;
  if (Count(daemonset, "numberAvailable") < desired) return false;
  // With OnDelete, pods of before are what the user asked to keep.
  const bool on_delete = TextAt(daemonset, {"spec", "updateStrategy", "type"}) == "OnDelete";
  return on_delete || Count(daemonset, "updatedNumberScheduled") >= desired;
}

std::string NotReadyMessage(const std::vector<std::string>& states,
                            const std::vector<std::string>& details) {
  std::string message = "ClusterPolicy is not ready";
  if (!states.empty()) message += "; states not ready: [" + Join(states, " ") + "]";
  for (const std::string& detail : details) message += "; " + detail;
  return message;
}

std::optional<json::object> WantedStatus(const json::value& live, const Outcome& outcome,
                                         const std::vector<std::string>& warnings,
                                         const std::string& ns, WallTime now) {
  json::array conditions;
  for (const Condition& condition : Conditions(outcome, warnings)) {
    conditions.emplace_back(ToJsonValue(condition, live, now));
  }
  json::object status = {{"state", outcome.state}, {"namespace", ns}};
  status["conditions"] = std::move(conditions);
  if (SaysIt(live, status)) return std::nullopt;
  json::object object = kube::NewObject(kClusterPolicies, "", kube::Name(live));
  object["status"] = std::move(status);
  return object;
}

}  // namespace pawl::op
