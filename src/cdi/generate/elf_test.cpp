#include "cdi/generate/elf.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "cdi/generate/tiny_elf.h"

namespace pawl::cdi {
namespace {

// Without the syncs of an atomic write, for the many small files below.
std::string WriteFast(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(Elf, TheSonameIsRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadSoname(folder.Write("lib", TinyElf("libcuda.so.1"))), "libcuda.so.1");
}

TEST(Elf, ALibraryOfThisMachineHasItsSoname) {
  // GoogleTest's program itself is linked with it.
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6",
                           "/lib64/libc.so.6"}) {
    if (const std::optional<std::string> soname = ReadSoname(path)) {
      EXPECT_EQ(*soname, "libc.so.6");
      return;
    }
  }
  FAIL() << "no libc found";
}

TEST(Elf, ASonameThatIsNoFileNameIsNone) {
  const TemporaryFolder folder;
  for (const char* bad : {"", "../libc.so.6", "/etc/passwd", "a::b", ".", ".."}) {
    EXPECT_EQ(ReadSoname(folder.Write("lib", TinyElf(bad))), std::nullopt) << bad;
  }
  EXPECT_EQ(ReadSoname(folder.Write("lib", TinyElf(std::string(300, 'x')))), std::nullopt);
}

TEST(Elf, WhatIsNoElfFileHasNone) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadSoname(folder.Write("lib", "")), std::nullopt);
  EXPECT_EQ(ReadSoname(folder.Write("lib", "/* GNU ld script */")), std::nullopt);
  EXPECT_EQ(ReadSoname(folder.path()), std::nullopt);
  EXPECT_EQ(ReadSoname(folder.Path("missing")), std::nullopt);
}

// Every byte at its extremes, every length: an answer or none, within bounds.
TEST(Elf, ADamagedFileIsReadWithinBounds) {
  const TemporaryFolder folder;
  const std::string whole = TinyElf("libcuda.so.1");
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)ReadSoname(WriteFast(folder.Path("lib"), whole.substr(0, i)));
    for (const char c : {'\x00', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      (void)ReadSoname(WriteFast(folder.Path("lib"), changed));
    }
  }
}

}  // namespace
}  // namespace pawl::cdi
