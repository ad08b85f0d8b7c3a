#include "kube/selectors.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace pawl::kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

std::optional<int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsSpecial(char c) { return std::string_view("=!(),<>").find(c) != std::string_view::npos; }

// Reads a selector's text from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string Word() {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) && !IsSpecial(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Error Unexpected(std::string_view expected) const {
    return {ErrorKind::kInvalid, "label selector '" + std::string(text_) + "' at byte " +
                                     std::to_string(at_) + ": expected " + std::string(expected)};
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

Result<std::vector<std::string>> ReadSet(Reader& reader) {
  if (!reader.Take("(")) return Fail(reader.Unexpected("'('"));
  std::vector<std::string> values;
  while (true) {
    values.push_back(reader.Word());
    if (reader.Take(")")) return values;
    if (!reader.Take(",")) return Fail(reader.Unexpected("',' or ')'"));
  }
}

Result<Requirement> ReadRequirement(Reader& reader) {
  Requirement requirement;
  if (reader.Take("!")) {
    requirement.key = reader.Word();
    requirement.op = Operator::kDoesNotExist;
    return requirement;
  }
  requirement.key = reader.Word();
  const auto value = [&](Operator op) {
    requirement.op = op;
    requirement.values = {reader.Word()};
  };
  if (reader.Take("==") || reader.Take("=")) {
    value(Operator::kIn);
  } else if (reader.Take("!=")) {
    value(Operator::kNotIn);
  } else if (reader.Take(">")) {
    value(Operator::kGreaterThan);
  } else if (reader.Take("<")) {
    value(Operator::kLessThan);
  } else {
    const std::string word = reader.Word();
    if (word.empty()) return requirement;
    if (word != "in" && word != "notin") return Fail(reader.Unexpected("'in' or 'notin'"));
    requirement.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    Result<std::vector<std::string>> values = ReadSet(reader);
    if (!values) return Fail(values.error());
    requirement.values = std::move(*values);
  }
  return requirement;
}

Status Check(const Requirement& requirement) {
  if (Status key = ValidateLabelKey(requirement.key); !key) return key;
  const bool set = requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
  const bool order =
      requirement.op == Operator::kGreaterThan || requirement.op == Operator::kLessThan;
  if (set && requirement.values.empty()) {
    return Fail(ErrorKind::kInvalid, requirement.key + ": In and NotIn need values");
  }
  if (!set && !order && !requirement.values.empty()) {
    return Fail(ErrorKind::kInvalid, requirement.key + ": Exists and DoesNotExist take no values");
  }
  if (order && (requirement.values.size() != 1 || !ParseInteger(requirement.values[0]))) {
    return Fail(ErrorKind::kInvalid, requirement.key + ": greater and less need one integer");
  }
  for (const std::string& value : requirement.values) {
    if (order) break;
    if (Status valid = ValidateLabelValue(value); !valid) return valid;
  }
  return {};
}

bool Holds(const Requirement& requirement, const Labels& labels) {
  const auto label = labels.find(requirement.key);
  const bool exists = label != labels.end();
  const auto among = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), label->second) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return exists && among();
    case Operator::kNotIn:
      return !exists || !among();
    case Operator::kExists:
      return exists;
    case Operator::kDoesNotExist:
      return !exists;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      break;
  }
  const std::optional<int64_t> have = exists ? ParseInteger(label->second) : std::nullopt;
  const std::optional<int64_t> bound = ParseInteger(requirement.values[0]);
  if (!have || !bound) return false;
  return requirement.op == Operator::kGreaterThan ? *have > *bound : *have < *bound;
}

Result<Requirement> RequirementOf(const json::value& expression) {
  static constexpr std::pair<std::string_view, Operator> kOperators[] = {
      {"In", Operator::kIn},          {"NotIn", Operator::kNotIn},
      {"Exists", Operator::kExists},  {"DoesNotExist", Operator::kDoesNotExist},
      {"Gt", Operator::kGreaterThan}, {"Lt", Operator::kLessThan}};
  Requirement requirement;
  requirement.key = TextAt(expression, {"key"});
  const std::string name = TextAt(expression, {"operator"});
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const auto& row) { return row.first == name; });
  if (found == std::end(kOperators)) {
    return Fail(ErrorKind::kInvalid, requirement.key + ": operator '" + name +
                                         "' is none of In NotIn Exists DoesNotExist Gt Lt");
  }
  requirement.op = found->second;
  const json::value* values = Find(expression, "values");
  if (values != nullptr && values->is_array()) {
    for (const json::value& value : values->get_array()) {
      if (!value.is_string()) {
        return Fail(ErrorKind::kInvalid, requirement.key + ": values must be texts");
      }
      requirement.values.emplace_back(value.get_string());
    }
  }
  return requirement;
}

std::string Render(const Requirement& requirement) {
  switch (requirement.op) {
    case Operator::kExists:
      return requirement.key;
    case Operator::kDoesNotExist:
      return "!" + requirement.key;
    case Operator::kGreaterThan:
      return requirement.key + ">" + requirement.values[0];
    case Operator::kLessThan:
      return requirement.key + "<" + requirement.values[0];
    case Operator::kIn:
    case Operator::kNotIn:
      break;
  }
  const bool in = requirement.op == Operator::kIn;
  if (requirement.values.size() == 1) {
    return requirement.key + (in ? "=" : "!=") + requirement.values[0];
  }
  return requirement.key + (in ? " in (" : " notin (") + Join(requirement.values, ",") + ")";
}

}  // namespace

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  LabelSelector selector;
  Reader reader(text);
  if (reader.AtEnd()) return selector;
  while (true) {
    Result<Requirement> requirement = ReadRequirement(reader);
    if (!requirement) return Fail(requirement.error());
    if (Status valid = Check(*requirement); !valid) {
      return Fail(valid.error().With("label selector '" + std::string(text) + "'"));
    }
    selector.requirements_.push_back(std::move(*requirement));
    if (reader.AtEnd()) return selector;
    if (!reader.Take(",")) return Fail(reader.Unexpected("','"));
  }
}

Result<LabelSelector> LabelSelector::FromExpressions(const json::value& expressions) {
  LabelSelector selector;
  if (expressions.is_null()) return selector;
  if (!expressions.is_array()) {
    return Fail(ErrorKind::kInvalid, "expected a list of expressions");
  }
  for (const json::value& expression : expressions.get_array()) {
    Result<Requirement> requirement = RequirementOf(expression);
    if (!requirement) return Fail(requirement.error());
    if (Status valid = Check(*requirement); !valid) return Fail(valid.error());
    selector.requirements_.push_back(std::move(*requirement));
  }
  return selector;
}

Result<LabelSelector> LabelSelector::FromJson(const json::value& selector) {
  if (selector.is_null()) return Nothing();
  if (!selector.is_object()) return Fail(ErrorKind::kInvalid, "expected a label selector");
  const json::value* expressions = Find(selector, "matchExpressions");
  Result<LabelSelector> made =
      FromExpressions(expressions == nullptr ? json::value() : *expressions);
  if (!made) return made;
  for (const Requirement& requirement : made->requirements_) {
    if (requirement.op == Operator::kGreaterThan || requirement.op == Operator::kLessThan) {
      return Fail(ErrorKind::kInvalid, requirement.key + ": a label selector has no Gt and Lt");
    }
  }
  const json::value* labels = Find(selector, "matchLabels");
  if (labels == nullptr || !labels->is_object()) return made;
  for (const auto& [key, value] : labels->get_object()) {
    if (!value.is_string()) {
      return Fail(ErrorKind::kInvalid, std::string(key) + ": expected a text");
    }
    Requirement requirement{std::string(key), Operator::kIn, {std::string(value.get_string())}};
    if (Status valid = Check(requirement); !valid) return Fail(valid.error());
    made->requirements_.push_back(std::move(requirement));
  }
  return made;
}

LabelSelector LabelSelector::Nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

bool LabelSelector::Matches(const Labels& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return Holds(requirement, labels); });
}

std::string LabelSelector::ToString() const {
  std::vector<std::string> parts;
  parts.reserve(requirements_.size());
  for (const Requirement& requirement : requirements_) parts.push_back(Render(requirement));
  return Join(parts, ",");
}

}  // namespace pawl::kube
