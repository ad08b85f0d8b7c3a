#include "cdi/generate/ld_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"

namespace pawl::cdi {
namespace {

void Append(std::string& out, uint32_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

struct Entry {
  uint32_t flags;
  std::string name;
  std::string path;
};

std::string Table(const std::vector<Entry>& entries) {
  constexpr uint32_t kHeader = 48;
  constexpr uint32_t kEntry = 24;
  std::string strings;
  std::string rows;
  const auto base = static_cast<uint32_t>(kHeader + kEntry * entries.size());
  const auto place = [&](const std::string& text) {
    const auto at = base + static_cast<uint32_t>(strings.size());
    strings += text + '\0';
    return at;
  };
  for (const Entry& entry : entries) {
    Append(rows, entry.flags);
    Append(rows, place(entry.name));
    Append(rows, place(entry.path));
    for (int i = 0; i < 3; ++i) Append(rows, 0);
  }
  std::string table = "glibc-ld.so.cache1.1";
  Append(table, static_cast<uint32_t>(entries.size()));
  Append(table, static_cast<uint32_t>(strings.size()));
  for (int i = 0; i < 5; ++i) Append(table, 0);
  return table + rows + strings;
}

const std::vector<Entry> kEntries = {{0x0303, "libcuda.so.1", "/opt/lib/libcuda.so.1"},
                                     {0x0003, "libcuda.so.1", "/opt/lib32/libcuda.so.1"},
                                     {0x0a03, "libnvidia-ml.so.1", "/opt/arm/libnvidia-ml.so.1"}};

TEST(LdCache, HoldsThe64BitLibraries) {
  const Result<std::vector<LdCacheEntry>> entries = ParseLdCache(Table(kEntries));
  ASSERT_TRUE(entries) << entries.error().message();
  const std::vector<LdCacheEntry> expected = {{"libcuda.so.1", "/opt/lib/libcuda.so.1"},
                                              {"libnvidia-ml.so.1", "/opt/arm/libnvidia-ml.so.1"}};
  EXPECT_EQ(*entries, expected);
}

TEST(LdCache, AnOlderTableInFrontIsSkipped) {
  std::string old("ld.so-1.7.0\0", 12);
  Append(old, 1);
  for (int i = 0; i < 3; ++i) Append(old, 7);
  old.resize((old.size() + 7) / 8 * 8);
  const Result<std::vector<LdCacheEntry>> entries = ParseLdCache(old + Table(kEntries));
  ASSERT_TRUE(entries) << entries.error().message();
  EXPECT_EQ(entries->size(), 2U);
}

TEST(LdCache, TheCacheOfThisMachineHasItsLibc) {
  const Result<std::string> bytes = ReadFile("/etc/ld.so.cache");
  ASSERT_TRUE(bytes) << bytes.error().message();
  const Result<std::vector<LdCacheEntry>> entries = ParseLdCache(*bytes);
  ASSERT_TRUE(entries) << entries.error().message();
  EXPECT_TRUE(std::any_of(entries->begin(), entries->end(),
                          [](const LdCacheEntry& entry) { return entry.name == "libc.so.6"; }));
}

TEST(LdCache, DamagedBytesAreReadWithinBounds) {
  const std::string whole = Table(kEntries);
  EXPECT_FALSE(ParseLdCache(""));
  EXPECT_FALSE(ParseLdCache("something else"));
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)ParseLdCache(whole.substr(0, i));
    for (const char c : {'\x00', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      (void)ParseLdCache(changed);
    }
  }
}

}  // namespace
}  // namespace pawl::cdi
