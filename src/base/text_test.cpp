#include "base/text.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(Text, SplitKeepsEmptyPartsAndSplitWordsDoesNot) {
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(SplitWords("  a \t b\n"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(SplitWords(" \n").empty());
}

TEST(Text, LinesTakesUnixAndDosLineEnds) {
  EXPECT_EQ(Lines("a\r\nb\n\nc"), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_TRUE(Lines("").empty());
}

TEST(Text, ParseUnsignedTakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseUnsigned("195"), 195U);
  EXPECT_EQ(ParseUnsigned("10de", 16), 0x10deU);
  for (const char* bad : {"", "-1", "+1", "1 ", "0x10", "99999999999999999999"}) {
    EXPECT_FALSE(ParseUnsigned(bad)) << bad;
  }
}

TEST(Text, ReplaceAllDoesNotLookAtWhatItWrote) {
  EXPECT_EQ(ReplaceAll("aa", "a", "aa"), "aaaa");
  EXPECT_EQ(ReplaceAll("abc", "", "x"), "abc");
}

TEST(Text, TrimTakesBothEnds) {
  EXPECT_EQ(Trim(" \ta b\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

}  // namespace
}  // namespace pawl
