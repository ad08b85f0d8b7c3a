// JSON, by Boost.JSON. Objects keep the order of their keys.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl {

namespace json = boost::json;

// The error names the byte where the text stops making sense. Refuses more than 64 levels of
// nesting, and anything but white space after the value.
Result<json::value> ParseJson(std::string_view text);

// One line, no spaces.
std::string ToJson(const json::value& value);

// Two spaces of indent and a newline at the end, for people and for files.
std::string ToPrettyJson(const json::value& value);

// The member `key` where `value` is an object that has it, else nullptr.
const json::value* Find(const json::value& value, std::string_view key);

// Walks members: FindPath(node, {"status", "nodeInfo", "osImage"}). nullptr where a step is
// missing.
const json::value* FindPath(const json::value& value, std::initializer_list<std::string_view> keys);

// The text of the member at a path, or `otherwise` where it is missing or not a string.
std::string TextAt(const json::value& value, std::initializer_list<std::string_view> keys,
                   std::string_view otherwise = "");

}  // namespace pawl
