// Versions, dates and kernels as compatibility rules compare them (spec/compat.md §3). Pure.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::compat {

// Numbers between dots; missing ones are 0, so 580.95 equals 580.95.0. Driver, CUDA, kernel and
// framework versions alike.
struct Version {
  std::array<uint32_t, 4> part{};
  auto operator<=>(const Version& other) const { return part <=> other.part; }
  bool operator==(const Version&) const = default;

  uint32_t major() const { return part[0]; }
  uint32_t minor() const { return part[1]; }
};

// The whole of 1 to 4 numbers, else nothing.
std::optional<Version> ParseVersion(std::string_view text);

// 0 where the text is none; for columns that the schema has checked.
Version VersionOf(std::string_view text);

// "570.86.15-0ubuntu1", "535.129.03-grid", "580.126.20-server" → the part before the suffix.
std::string_view WithoutPackaging(std::string_view version);

// "570" of "570.86.15".
std::string_view BranchOf(std::string_view version);

// Is `version` the release `prefix` or a later patch of it: 2.18 covers 2.18.1, not 2.180.
bool Covers(std::string_view prefix, std::string_view version);

// Whether a day ("2026-12-01") lies after the last day of a period (YYYY, YYYY-MM, YYYY-MM-DD).
bool IsPast(std::string_view period, std::string_view day);

// What `uname -r` and `uname -v` tell.
struct Kernel {
  std::string release;          // as given
  Version version;              // of the upstream kernel; Debian's from `uname -v`
  std::optional<uint32_t> abi;  // Ubuntu: 113 of 5.15.0-113-generic
  std::string flavour;          // Ubuntu: generic, azure-fde
  bool ubuntu = false;
  bool enterprise = false;  // .elN, RHCOS, SLES: the number says nothing (§3.4)
  std::string el_release;   // "9.6" of …el9_6…; empty where the release does not say
  std::string stable;       // text of `version`, for people

  std::string Series() const;  // "6.8": major and minor
};

// Nothing where the release does not begin with a version.
std::optional<Kernel> ParseKernel(std::string_view release, std::string_view build,
                                  std::string_view os_id);

// "gcc-12", "gcc (Ubuntu 12.3.0) 12.3.0", "x86_64-linux-gnu-gcc-12" → gcc, 12.
struct Compiler {
  std::string name;  // gcc or clang
  uint32_t major = 0;
};
std::optional<Compiler> ParseCompiler(std::string_view text);

// Red Hat's family shares kernels: rocky, rhcos, centos, almalinux and ol are rhel to a row that
// says rhel.
bool IsDistribution(std::string_view row, std::string_view os_id);

}  // namespace pawl::compat
