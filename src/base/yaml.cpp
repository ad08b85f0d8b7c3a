#include "base/yaml.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace pawl {
namespace {

std::string Place(const YAML::Mark& mark) {
  return "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1);
}

template <typename T>
bool ParseWhole(const std::string& text, T& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  const std::from_chars_result parsed = std::from_chars(begin, end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end && begin != end;
}

bool LooksNumeric(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

json::value PlainScalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (LooksNumeric(text)) {
    int64_t whole = 0;
    uint64_t large = 0;
    double real = 0;
    if (ParseWhole(text, whole)) return whole;
    if (ParseWhole(text, large)) return large;
    if (ParseWhole(text, real) && std::isfinite(real)) return real;
  }
  return json::string(text);
}

Result<json::value> Convert(const YAML::Node& node, int depth) {
  constexpr int kMaxDepth = 64;
  if (depth > kMaxDepth) {
    return Fail(ErrorKind::kInvalid, "YAML: " + Place(node.Mark()) + ": nested too deeply");
  }
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return nullptr;
    case YAML::NodeType::Scalar:
      if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") {
        return json::string(node.Scalar());
      }
      return PlainScalar(node.Scalar());
    case YAML::NodeType::Sequence: {
      json::array array;
      for (const YAML::Node& element : node) {
        Result<json::value> value = Convert(element, depth + 1);
        if (!value) return value;
        array.push_back(std::move(*value));
      }
      return array;
    }
    case YAML::NodeType::Map: {
      json::object object;
      for (const auto& member : node) {
        if (!member.first.IsScalar()) {
          return Fail(ErrorKind::kInvalid,
                      "YAML: " + Place(member.first.Mark()) + ": a key must be a scalar");
        }
        const std::string& key = member.first.Scalar();
        Result<json::value> value = Convert(member.second, depth + 1);
        if (!value) return value;
        if (!object.emplace(key, std::move(*value)).second) {
          return Fail(ErrorKind::kInvalid, "YAML: " + Place(member.first.Mark()) + ": the key \"" +
                                               key + "\" stands here a second time");
        }
      }
      return object;
    }
  }
  return nullptr;
}

bool PlainIsSafe(const std::string& text) {
  if (!PlainScalar(text).is_string()) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (text.find_first_of("\n\t\r\"'\\{}[]&*!|>%@`#,?") != std::string::npos) return false;
  if (text.find(": ") != std::string::npos || text.front() == '-') return false;
  if (text == "y" || text == "n" || text == "yes" || text == "no" || text == "on" ||
      text == "off" || text == "=" || text == "<<") {
    return false;
  }
  // Things that other readers take for numbers or times: 0x10, 1_000, 12:30:00, 0o7, .inf.
  return (text.front() < '0' || text.front() > '9') && text.front() != '.' && text.front() != '+';
}

std::string ScalarText(const json::value& value) {
  if (value.is_string()) {
    const std::string text(value.get_string());
    return PlainIsSafe(text) ? text : json::serialize(value);
  }
  return json::serialize(value);
}

bool IsBlock(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

void Emit(std::string& out, const json::value& value, size_t indent, bool continues_line) {
  const std::string pad(indent, ' ');
  bool first = continues_line;
  if (const json::object* object = value.if_object(); object != nullptr && IsBlock(value)) {
    for (const auto& member : *object) {
      if (!first) out += pad;
      first = false;
      out += ScalarText(json::string(member.key())) + ":";
      if (!IsBlock(member.value())) {
        out += " " + ScalarText(member.value()) + "\n";
        continue;
      }
      out += "\n";
      Emit(out, member.value(), indent + (member.value().is_object() ? 2 : 0), false);
    }
    return;
  }
  if (const json::array* array = value.if_array(); array != nullptr && IsBlock(value)) {
    for (const json::value& element : *array) {
      if (!first) out += pad;
      first = false;
      out += "- ";
      if (IsBlock(element)) {
        Emit(out, element, indent + 2, true);
      } else {
        out += ScalarText(element) + "\n";
      }
    }
    return;
  }
  out += ScalarText(value) + "\n";
}

}  // namespace

Result<std::vector<json::value>> ParseYamlStream(std::string_view text) {
  try {
    std::vector<json::value> documents;
    for (const YAML::Node& document : YAML::LoadAll(std::string(text))) {
      if (document.IsNull()) continue;
      Result<json::value> value = Convert(document, 0);
      if (!value) return Fail(value.error());
      documents.push_back(std::move(*value));
    }
    return documents;
  } catch (const YAML::Exception& error) {
    return Fail(ErrorKind::kInvalid, "YAML: " + Place(error.mark) + ": " + error.msg);
  }
}

Result<json::value> ParseYaml(std::string_view text) {
  Result<std::vector<json::value>> documents = ParseYamlStream(text);
  if (!documents) return Fail(documents.error());
  if (documents->size() > 1) {
    return Fail(ErrorKind::kInvalid,
                "YAML: one document expected, " + std::to_string(documents->size()) + " found");
  }
  if (documents->empty()) return nullptr;
  return std::move(documents->front());
}

std::string ToYaml(const json::value& value) {
  std::string out;
  Emit(out, value, 0, false);
  return out;
}

}  // namespace pawl
