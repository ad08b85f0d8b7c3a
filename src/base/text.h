// Small text functions, all on bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

std::string_view Trim(std::string_view text);  // spaces, tabs, newlines at both ends
std::vector<std::string> Split(std::string_view text, char separator);  // keeps empty parts
std::vector<std::string> SplitWords(std::string_view text);             // on runs of white space
std::vector<std::string> Lines(std::string_view text);                  // without line ends
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string ToLower(std::string_view text);  // ASCII
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);

// The whole text as a number in this base; nothing for an empty text, a sign, other characters or
// an overflow.
std::optional<uint64_t> ParseUnsigned(std::string_view text, int base = 10);

}  // namespace pawl
