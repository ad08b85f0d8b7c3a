#include "base/memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace pawl {

namespace {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool of_a_file = false;  // readable, not writable, of a file
};

// The first line of a mapping in smaps: "55d0c0000000-55d0c0a00000 r-xp 00001000 08:01 123  /usr/bin/pawl".
std::optional<Mapping> ParseMapping(const std::vector<std::string>& words) {
  if (words.size() < 5 || words[1].size() != 4) return std::nullopt;
  const size_t dash = words[0].find('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto begin = ParseUnsigned(std::string_view(words[0]).substr(0, dash), 16);
  const auto end = ParseUnsigned(std::string_view(words[0]).substr(dash + 1), 16);
  if (!begin || !end || *end <= *begin) return std::nullopt;
  const bool read_only = words[1] == "r-xp" || words[1] == "r--p";
  return Mapping{*begin, *end, read_only && words.size() > 5 && words[5].starts_with('/')};
}

}  // namespace

void ReleaseStartupMemory() {
  malloc_trim(0);
  const Result<std::string> maps = ReadFile("/proc/self/smaps");
  if (!maps) return;
  Mapping mapping;
  for (const std::string& line : Lines(*maps)) {
    const std::vector<std::string> words = SplitWords(line);
    if (const std::optional<Mapping> next = ParseMapping(words)) {
      mapping = *next;
      continue;
    }
    // A read-only mapping without a page of its own is what the file holds, so nothing can be lost. One that has
    // such pages was written before it became read-only: relocations.
    if (words.size() < 2 || words[0] != "Anonymous:" || words[1] != "0" || !mapping.of_a_file) {
      continue;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel names it as a number
    madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
  }
}

}  // namespace pawl
