#include "base/memory.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"

namespace pawl {
namespace {

uint64_t ResidentFilePages() {
  for (const std::string& line : Lines(ReadFile("/proc/self/status").value())) {
    if (line.starts_with("RssFile:")) return ParseUnsigned(SplitWords(line)[1]).value();
  }
  return 0;
}

TEST(ReleaseStartupMemory, MakesTheProcessSmallerAndItGoesOn) {
  const uint64_t before = ResidentFilePages();
  ReleaseStartupMemory();
  EXPECT_LT(ResidentFilePages(), before);
}

}  // namespace
}  // namespace pawl
