#include "kube/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace pawl::kube {
namespace {

TEST(Quantity, IsWrittenInItsCanonicalForm) {
  const std::pair<const char*, const char*> rows[] = {
      {"1024Mi", "1Gi"},
      {"1000M", "1G"},
      {"1.5", "1500m"},
      {"1.5Gi", "1536Mi"},
      {".001Ki", "1024m"},
      {"0.9n", "1n"},
      {"1e3", "1e3"},
      {"1.G", "1G"},
      {"9Ei", "9223372036854775807"},
      {"0", "0"},
      {"-0.5", "-500m"},
      {"+4", "4"},
      {"100m", "100m"},
      {"1000m", "1"},
      {"1E", "1E"},
      {"12e-1", "1200e-3"},
      {"1025Ki", "1025Ki"},
      {"0Ki", "0"},
      {"1500Ki", "1500Ki"},
      {"00012", "12"},
      {"0.00000000000000000001", "1n"},
      {"99999999999999999999999999999999", "9223372036854775807"},
      {"-9Ei", "-9223372036854775807"},
  };
  for (const auto& [text, canonical] : rows) {
    const Result<Quantity> quantity = Quantity::Parse(text);
    ASSERT_TRUE(quantity) << text;
    EXPECT_EQ(quantity->ToString(), canonical) << text;
  }
}

TEST(Quantity, RefusesOtherTexts) {
  for (const char* text : {"", "1Kb", "5 Gi", "Gi", ".", "-", "1..2", "1e", "1ee3", "0x10", "1K",
                           "1mi", " 1", "1e1.5"}) {
    EXPECT_FALSE(Quantity::Parse(text)) << text;
  }
}

TEST(Quantity, ComparesAsANumber) {
  const auto parse = [](const char* text) { return *Quantity::Parse(text); };
  EXPECT_EQ(parse("1Gi"), parse("1024Mi"));
  EXPECT_EQ(parse("1"), parse("1000m"));
  EXPECT_LT(parse("1G"), parse("1Gi"));
  EXPECT_LT(parse("-1"), parse("1n"));
  EXPECT_GT(parse("10"), parse("9"));
  EXPECT_EQ(parse("4"), Quantity(4));
}

TEST(Quantity, RoundsItsValueUp) {
  EXPECT_EQ(Quantity::Parse("1.1")->Value(), 2);
  EXPECT_EQ(Quantity::Parse("100m")->Value(), 1);
  EXPECT_EQ(Quantity::Parse("8Gi")->Value(), int64_t{8} << 30);
  EXPECT_EQ(Quantity::Parse("100u")->MilliValue(), 1);
  EXPECT_EQ(Quantity::Parse("2.5")->MilliValue(), 2500);
  EXPECT_EQ(Quantity::Parse("9Ei")->MilliValue(), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace pawl::kube
