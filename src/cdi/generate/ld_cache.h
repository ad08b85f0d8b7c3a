// The loader's cache, /etc/ld.so.cache, as glibc writes it: where each library of a system lies.
// spec/container-toolkit.md §5.4 "Discovery".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pawl::cdi {

struct LdCacheEntry {
  std::string name;  // "libcuda.so.1"
  std::string path;  // "/usr/lib/x86_64-linux-gnu/libcuda.so.1"

  bool operator==(const LdCacheEntry&) const = default;
};

// The entries of 64-bit libraries (x86-64 and AArch64). The text may begin with the older table,
// which is skipped. kInvalid where neither table's mark is found or the table is cut short; an
// entry that points outside is left out.
Result<std::vector<LdCacheEntry>> ParseLdCache(std::string_view bytes);

}  // namespace pawl::cdi
