#include "base/json.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(Json, ErrorsNameTheByte) {
  EXPECT_EQ(ParseJson("{\"a\":1").error().kind(), ErrorKind::kInvalid);
  EXPECT_NE(ParseJson("[1] x").error().message().find("byte 4"), std::string::npos);
  EXPECT_TRUE(ParseJson(" [1] \n"));
  EXPECT_FALSE(ParseJson(""));
}

TEST(Json, DeepNestingIsRefusedAndNotACrash) { EXPECT_FALSE(ParseJson(std::string(100000, '['))); }

TEST(Json, FindPathWalksObjectsOnly) {
  const json::value value = ParseJson(R"({"a":{"b":"c"},"d":[1]})").value();
  EXPECT_EQ(TextAt(value, {"a", "b"}), "c");
  EXPECT_EQ(TextAt(value, {"a", "x"}, "else"), "else");
  EXPECT_EQ(FindPath(value, {"d", "0"}), nullptr);
  EXPECT_EQ(TextAt(value, {"d"}, "else"), "else") << "not a string";
}

TEST(Json, PrettyPrintsWithTwoSpaces) {
  EXPECT_EQ(ToPrettyJson(json::parse(R"({"a":[1,{"b":"c"}],"e":{}})")),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"c\"\n    }\n  ],\n  \"e\": {}\n}\n");
}

}  // namespace
}  // namespace pawl
