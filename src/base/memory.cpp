#include "base/memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace pawl {

void ReleaseStartupMemory() {
  malloc_trim(0);
  const Result<std::string> maps = ReadFile("/proc/self/maps");
  if (!maps) return;
  for (const std::string& line : Lines(*maps)) {
    // "55d0c0000000-55d0c0a00000 r-xp 00001000 08:01 123  /usr/bin/pawl". Only code: it is never
    // written, so nothing can be lost.
    const std::vector<std::string> words = SplitWords(line);
    if (words.size() < 6 || words[1] != "r-xp" || !words[5].starts_with('/')) continue;
    const size_t dash = words[0].find('-');
    const auto begin = ParseUnsigned(std::string_view(words[0]).substr(0, dash), 16);
    const auto end = ParseUnsigned(std::string_view(words[0]).substr(dash + 1), 16);
    if (!begin || !end || *end <= *begin) continue;
    madvise(reinterpret_cast<void*>(*begin), *end - *begin, MADV_DONTNEED);
  }
}

}  // namespace pawl
