// The rules for names and values of labels.
#include "base/text.h"
#include "kube/selectors.h"

namespace pawl::kube {
namespace {

constexpr size_t kLongestName = 63;
constexpr size_t kLongestPrefix = 253;

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return false;
  if (!IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  for (const char c : text) {
    if (!IsAlnum(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

bool IsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > kLongestPrefix) return false;
  for (const std::string& part : Split(text, '.')) {
    if (part.empty() || !IsLowerAlnum(part.front()) || !IsLowerAlnum(part.back())) return false;
    for (const char c : part) {
      if (!IsLowerAlnum(c) && c != '-') return false;
    }
  }
  return true;
}

}  // namespace

Status ValidateLabelKey(std::string_view key) {
  const auto bad = [&](std::string_view why) {
    return Fail(ErrorKind::kInvalid, "label key '" + std::string(key) + "': " + std::string(why));
  };
  const size_t slash = key.find('/');
  std::string_view name = key;
  if (slash != std::string_view::npos) {
    name = key.substr(slash + 1);
    if (!IsSubdomain(key.substr(0, slash))) return bad("the part before '/' must be a DNS name");
  }
  if (!IsName(name)) {
    return bad(
        "expected 1 to 63 letters, digits, '-', '_', '.', with a letter or digit at both ends");
  }
  return {};
}

Status ValidateLabelValue(std::string_view value) {
  if (value.empty() || IsName(value)) return {};
  return Fail(ErrorKind::kInvalid,
              "label value '" + std::string(value) +
                  "': expected at most 63 letters, digits, '-', '_', '.', with a letter or digit "
                  "at both ends");
}

}  // namespace pawl::kube
