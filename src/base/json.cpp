#include "base/json.h"

#include <sstream>

namespace pawl {

Result<json::value> ParseJson(std::string_view text) {
  json::parse_options options;
  options.max_depth = 64;
  json::stream_parser parser({}, options);
  json::error_code error;
  const size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && used < text.size()) {
    const std::string_view rest = text.substr(used);
    if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos) {
      return Fail(ErrorKind::kInvalid,
                  "JSON: byte " + std::to_string(used) + ": unexpected text after the value");
    }
  }
  if (!error) parser.finish(error);
  if (error) {
    return Fail(ErrorKind::kInvalid, "JSON: byte " + std::to_string(used) + ": " + error.message());
  }
  return parser.release();
}

std::string ToJson(const json::value& value) { return json::serialize(value); }

namespace {

void Print(std::string& out, const json::value& value, int depth) {
  const std::string inner(static_cast<size_t>(depth + 1) * 2, ' ');
  const std::string outer(static_cast<size_t>(depth) * 2, ' ');
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& member : *object) {
      if (!first) out += ",\n";
      first = false;
      out += inner + json::serialize(json::string(member.key())) + ": ";
      Print(out, member.value(), depth + 1);
    }
    out += "\n" + outer + "}";
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    out += "[\n";
    bool first = true;
    for (const json::value& element : *array) {
      if (!first) out += ",\n";
      first = false;
      out += inner;
      Print(out, element, depth + 1);
    }
    out += "\n" + outer + "]";
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string ToPrettyJson(const json::value& value) {
  std::string out;
  Print(out, value, 0);
  out += "\n";
  return out;
}

const json::value* Find(const json::value& value, std::string_view key) {
  const json::object* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(key);
}

const json::value* FindPath(const json::value& value,
                            std::initializer_list<std::string_view> keys) {
  const json::value* here = &value;
  for (const std::string_view key : keys) {
    here = Find(*here, key);
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::string TextAt(const json::value& value, std::initializer_list<std::string_view> keys,
                   std::string_view otherwise) {
  const json::value* found = FindPath(value, keys);
  if (found == nullptr || !found->is_string()) return std::string(otherwise);
  return std::string(found->get_string());
}

}  // namespace pawl
