#include "compat/version.h"

#include <algorithm>

#include "base/text.h"

namespace pawl::compat {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The leading "a.b.c" of a text.
std::string_view LeadingVersion(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                      IsDigit(text[end + 1])))) {
    ++end;
  }
  return text.substr(0, end);
}

// "9.6" of "5.14.0-570.12.1.el9_6.x86_64"; "9" of "….el9.x86_64".
std::string ElRelease(std::string_view release) {
  const size_t at = release.find(".el");
  if (at == std::string_view::npos) return "";
  std::string found;
  for (const char c : release.substr(at + 3)) {
    if (!IsDigit(c) && c != '_') break;
    found += c == '_' ? '.' : c;
  }
  return found;
}

// The level that Debian hides in `uname -v`: "#1 SMP … Debian 6.1.76-1 (2024-02-01)".
std::string_view DebianLevel(std::string_view build) {
  const size_t at = build.find("Debian ");
  return at == std::string_view::npos ? std::string_view{} : LeadingVersion(build.substr(at + 7));
}

void ParseUbuntu(std::string_view release, std::string_view version, Kernel& kernel) {
  std::string_view rest = release.substr(version.size());
  if (!rest.starts_with('-')) return;
  rest.remove_prefix(1);
  const std::string_view abi = rest.substr(0, rest.find('-'));
  const auto number = ParseUnsigned(abi);
  if (!number || *number > UINT32_MAX) return;
  kernel.abi = static_cast<uint32_t>(*number);
  rest.remove_prefix(abi.size());
  if (rest.starts_with('-')) kernel.flavour = rest.substr(1);
}

}  // namespace

std::optional<Version> ParseVersion(std::string_view text) {
  Version version;
  size_t field = 0;
  while (true) {
    const std::string_view part = text.substr(0, text.find('.'));
    const auto number = ParseUnsigned(part);
    if (!number || *number > UINT32_MAX || field == version.part.size()) return std::nullopt;
    version.part[field++] = static_cast<uint32_t>(*number);
    if (part.size() == text.size()) return version;
    text.remove_prefix(part.size() + 1);
  }
}

Version VersionOf(std::string_view text) { return ParseVersion(text).value_or(Version{}); }

std::string_view WithoutPackaging(std::string_view version) {
  return version.substr(0, version.find('-'));
}

std::string_view BranchOf(std::string_view version) { return version.substr(0, version.find('.')); }

bool Covers(std::string_view prefix, std::string_view version) {
  return version.starts_with(prefix) &&
         (version.size() == prefix.size() || version[prefix.size()] == '.');
}

bool IsPast(std::string_view period, std::string_view day) {
  if (period.empty() || day.size() < 10) return false;
  return day.substr(0, period.size()) > period;
}

std::string Kernel::Series() const {
  return std::to_string(version.major()) + "." + std::to_string(version.minor());
}

std::optional<Kernel> ParseKernel(std::string_view release, std::string_view build,
                                  std::string_view os_id) {
  const std::string_view text = LeadingVersion(release);
  const auto version = ParseVersion(text);
  if (!version || text.find('.') == std::string_view::npos) return std::nullopt;
  Kernel kernel;
  kernel.release = release;
  kernel.version = *version;
  kernel.stable = text;
  kernel.el_release = ElRelease(release);
  kernel.enterprise =
      !kernel.el_release.empty() || IsDistribution("rhel", os_id) || os_id.starts_with("sle");
  if (os_id == "ubuntu") {
    kernel.ubuntu = true;
    ParseUbuntu(release, text, kernel);
  } else if (const std::string_view level = DebianLevel(build); !level.empty()) {
    if (const auto hidden = ParseVersion(level)) {
      kernel.version = *hidden;
      kernel.stable = level;
    }
  }
  return kernel;
}

std::optional<Compiler> ParseCompiler(std::string_view text) {
  const std::string lower = ToLower(text);
  Compiler compiler;
  size_t at = lower.find("clang");
  if (at != std::string::npos) {
    compiler.name = "clang";
  } else {
    at = lower.find("gcc");
    if (at == std::string::npos) return std::nullopt;
    compiler.name = "gcc";
  }
  std::string_view rest = std::string_view(lower).substr(at + compiler.name.size());
  if (rest.starts_with('-')) rest.remove_prefix(1);
  const std::string_view direct = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (const auto number = ParseUnsigned(direct); number && *number < 1000) {
    compiler.major = static_cast<uint32_t>(*number);
    return compiler;
  }
  for (const std::string& word : SplitWords(rest)) {
    const std::string_view trimmed =
        std::string_view(word).substr(std::min(word.size(), word.find_first_not_of('(')));
    const std::string_view number = LeadingVersion(trimmed);
    if (number.find('.') == std::string_view::npos) continue;
    compiler.major = VersionOf(number).major();
    return compiler;
  }
  return std::nullopt;
}

bool IsDistribution(std::string_view row, std::string_view os_id) {
  if (row == os_id) return true;
  return row == "rhel" && (os_id == "rocky" || os_id == "rhcos" || os_id == "centos" ||
                           os_id == "almalinux" || os_id == "ol");
}

}  // namespace pawl::compat
