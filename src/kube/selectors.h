// Label selectors, as texts ("a=b,c in (d,e),!f") and as LabelSelector objects, and names of labels
// (spec/kubernetes-client.md §12).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kube/object.h"

namespace pawl::kube {

class LabelSelector {
 public:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;
  };

  // The empty text selects everything.
  static Result<LabelSelector> Parse(std::string_view text);

  // Of {matchLabels, matchExpressions}: null selects nothing, {} everything.
  static Result<LabelSelector> FromJson(const json::value& selector);

  // As a node selector term has them: [{key, operator, values}], with Gt and Lt.
  static Result<LabelSelector> FromExpressions(const json::value& expressions);

  bool Matches(const Labels& labels) const;
  std::string ToString() const;  // fit for the labelSelector query

  static LabelSelector Everything() { return {}; }
  static LabelSelector Nothing();

 private:
  std::vector<Requirement> requirements_;  // all must hold
  bool nothing_ = false;
};

// kInvalid says which rule a label's key or value breaks.
Status ValidateLabelKey(std::string_view key);
Status ValidateLabelValue(std::string_view value);

// Whether a pod with this spec may be scheduled to a node with these labels and this name:
// nodeSelector, and nodeAffinity's required terms (ORed; an empty term or no terms match nothing).
// A malformed term matters only if no other matches.
Result<bool> MatchesNodeAffinity(const json::value& pod_spec, const Labels& node_labels,
                                 std::string_view node_name);

// Whether one toleration tolerates one taint ({key, value, effect}).
bool Tolerates(const json::value& toleration, const json::value& taint);

}  // namespace pawl::kube
