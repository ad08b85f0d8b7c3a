#include "cdi/generate/ld_cache.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace pawl::cdi {
namespace {

constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr size_t kOldHeader = 16;  // the mark, its zero, the number of entries
constexpr size_t kOldEntry = 12;
constexpr size_t kHeader = 48;
constexpr size_t kEntry = 24;  // flags, name, path, OS version (32 bits each), hardware (64)
constexpr size_t kAlignment = 8;

uint32_t Number(std::string_view bytes, size_t offset) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

std::optional<std::string> TextAtOffset(std::string_view bytes, size_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const size_t end = bytes.find('\0', offset);
  if (end == std::string_view::npos || end == offset) return std::nullopt;
  return std::string(bytes.substr(offset, end - offset));
}

bool Is64Bit(uint32_t flags) {
  constexpr uint32_t kX8664 = 0x0300;
  constexpr uint32_t kAarch64 = 0x0a00;
  const uint32_t machine = flags & 0xff00U;
  return machine == kX8664 || machine == kAarch64;
}

}  // namespace

Result<std::vector<LdCacheEntry>> ParseLdCache(std::string_view bytes) {
  if (bytes.starts_with(kOldMagic) && bytes.size() >= kOldHeader) {
    const size_t entries = Number(bytes, kOldHeader - 4);
    const size_t end = kOldHeader + entries * kOldEntry;
    const size_t start = (end + kAlignment - 1) / kAlignment * kAlignment;
    if (start > bytes.size()) return Fail(ErrorKind::kInvalid, "ld.so.cache: cut short");
    bytes.remove_prefix(start);
  }
  if (!bytes.starts_with(kMagic)) {
    return Fail(ErrorKind::kInvalid, "ld.so.cache: no table of version 1.1");
  }
  if (bytes.size() < kHeader) return Fail(ErrorKind::kInvalid, "ld.so.cache: cut short");
  const size_t count = Number(bytes, kMagic.size());
  if (count > (bytes.size() - kHeader) / kEntry) {
    return Fail(ErrorKind::kInvalid, "ld.so.cache: cut short");
  }
  std::vector<LdCacheEntry> entries;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = kHeader + i * kEntry;
    if (!Is64Bit(Number(bytes, at))) continue;
    std::optional<std::string> name = TextAtOffset(bytes, Number(bytes, at + 4));
    std::optional<std::string> path = TextAtOffset(bytes, Number(bytes, at + 8));
    if (name && path) entries.push_back({std::move(*name), std::move(*path)});
  }
  return entries;
}

}  // namespace pawl::cdi
