#include "base/yaml.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(Yaml, PlainScalarsFollowTheCoreSchema) {
  const json::value value = ParseYaml(
                                "{a: 1, b: 1.5, c: true, d: null, e: yes, f: \"1\", g: v1.2, h: "
                                "-3, i: '', j: 1e3, k: 12.4.1}")
                                .value();
  EXPECT_EQ(value.at("a"), json::value(1));
  EXPECT_EQ(value.at("b"), json::value(1.5));
  EXPECT_EQ(value.at("c"), json::value(true));
  EXPECT_EQ(value.at("d"), json::value(nullptr));
  EXPECT_EQ(value.at("e"), json::value("yes"));
  EXPECT_EQ(value.at("f"), json::value("1"));
  EXPECT_EQ(value.at("g"), json::value("v1.2"));
  EXPECT_EQ(value.at("h"), json::value(-3));
  EXPECT_EQ(value.at("i"), json::value(""));
  EXPECT_EQ(value.at("j"), json::value(1000.0));
  EXPECT_EQ(value.at("k"), json::value("12.4.1"));
}

TEST(Yaml, ErrorsNameTheLine) {
  const auto broken = ParseYaml("a: 1\nb: [1, 2\n");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message().find("line 3"), std::string::npos) << broken.error().message();
  const auto twice = ParseYaml("a: 1\na: 2\n");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message().find("\"a\" stands here a second time"), std::string::npos);
}

TEST(Yaml, StreamsLeaveOutEmptyDocuments) {
  EXPECT_EQ(ParseYamlStream("---\na: 1\n---\n---\nb: 2\n").value().size(), 2U);
  EXPECT_FALSE(ParseYaml("a: 1\n---\nb: 2\n"));
  EXPECT_TRUE(ParseYaml("").value().is_null());
}

TEST(Yaml, WhatIsWrittenIsReadBackTheSame) {
  const json::value value = json::parse(
      R"({"a":{"b":[1,{"c":"x","d":[]},["y","z"]],"e":{}},"s":["true","1.5","0x10","- x","a: b","#c","it's",
          "12:30","off","","~","k8s.device-plugin.nvidia.com/gpu","line\nbreak","cut=: ","%p","null","-",
          "@a","` ","1_000","2026-01-01"],"n":[null,true,-3,2.5,18446744073709551615]})");
  const std::string text = ToYaml(value);
  const auto again = ParseYaml(text);
  ASSERT_TRUE(again) << again.error().message() << "\n" << text;
  EXPECT_EQ(*again, value) << text;
}

}  // namespace
}  // namespace pawl
