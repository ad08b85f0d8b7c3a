// Where a pod may run: node affinity and tolerations.
#include <optional>

#include "kube/selectors.h"

namespace pawl::kube {
namespace {

bool IsEmptyList(const json::value* list) {
  return list == nullptr || !list->is_array() || list->get_array().empty();
}

// matchFields knows one field, metadata.name, with In or NotIn and one value.
Result<bool> MatchesFields(const json::value* fields, std::string_view node_name) {
  if (IsEmptyList(fields)) return true;
  for (const json::value& field : fields->get_array()) {
    const std::string op = TextAt(field, {"operator"});
    const json::value* values = Find(field, "values");
    const bool one = values != nullptr && values->is_array() && values->get_array().size() == 1 &&
                     values->get_array()[0].is_string();
    if (TextAt(field, {"key"}) != "metadata.name" || (op != "In" && op != "NotIn") || !one) {
      return Fail(ErrorKind::kInvalid,
                  "matchFields: expected metadata.name In or NotIn with one value");
    }
    const bool same = std::string_view(values->get_array()[0].get_string()) == node_name;
    if (same != (op == "In")) return false;
  }
  return true;
}

Result<bool> MatchesTerm(const json::value& term, const Labels& labels, std::string_view name) {
  const json::value* expressions = Find(term, "matchExpressions");
  const json::value* fields = Find(term, "matchFields");
  if (IsEmptyList(expressions) && IsEmptyList(fields)) return false;
  if (!IsEmptyList(expressions)) {
    const Result<LabelSelector> selector = LabelSelector::FromExpressions(*expressions);
    if (!selector) return Fail(selector.error().With("matchExpressions"));
    if (!selector->Matches(labels)) return false;
  }
  return MatchesFields(fields, name);
}

}  // namespace

Result<bool> MatchesNodeAffinity(const json::value& pod_spec, const Labels& node_labels,
                                 std::string_view node_name) {
  const json::value* selector = Find(pod_spec, "nodeSelector");
  if (selector != nullptr && selector->is_object()) {
    for (const auto& [key, value] : selector->get_object()) {
      const auto label = node_labels.find(std::string_view(key));
      if (label == node_labels.end() || !value.is_string()) return false;
      if (label->second != std::string_view(value.get_string())) return false;
    }
  }
  const json::value* required = FindPath(
      pod_spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr || required->is_null()) return true;
  const json::value* terms = Find(*required, "nodeSelectorTerms");
  if (IsEmptyList(terms)) return false;
  std::optional<Error> malformed;
  for (const json::value& term : terms->get_array()) {
    Result<bool> matches = MatchesTerm(term, node_labels, node_name);
    if (!matches) {
      malformed = matches.error();
    } else if (*matches) {
      return true;
    }
  }
  if (malformed) return Fail(malformed->With("nodeSelectorTerms"));
  return false;
}

bool Tolerates(const json::value& toleration, const json::value& taint) {
  const std::string effect = TextAt(toleration, {"effect"});
  const std::string key = TextAt(toleration, {"key"});
  const std::string op = TextAt(toleration, {"operator"});
  if (!effect.empty() && effect != TextAt(taint, {"effect"})) return false;
  if (key.empty()) return op == "Exists";
  if (key != TextAt(taint, {"key"})) return false;
  if (op == "Exists") return true;
  if (!op.empty() && op != "Equal") return false;
  return TextAt(toleration, {"value"}) == TextAt(taint, {"value"});
}

}  // namespace pawl::kube
