#include "compat/builtin.h"

#include <cstddef>

// The compiled data lies in the read-only section; the loader maps it and nothing copies it.
asm(".pushsection .rodata.pawl_compat,\"a\",@progbits\n"
    ".balign 8\n"
    ".global pawl_compat_begin\n"
    "pawl_compat_begin:\n"
    ".incbin \"" PAWL_COMPAT_DATA
    "\"\n"
    ".global pawl_compat_end\n"
    "pawl_compat_end:\n"
    ".popsection\n");

extern "C" {
extern const uint32_t pawl_compat_begin[];
extern const uint32_t pawl_compat_end[];
}

namespace pawl::compat {

std::span<const uint32_t> BuiltInWords() {
  return {pawl_compat_begin, static_cast<size_t>(pawl_compat_end - pawl_compat_begin)};
}

}  // namespace pawl::compat
