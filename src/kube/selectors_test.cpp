#include "kube/selectors.h"

#include <gtest/gtest.h>

namespace pawl::kube {
namespace {

bool Matches(std::string_view selector, const Labels& labels) {
  const Result<LabelSelector> parsed = LabelSelector::Parse(selector);
  EXPECT_TRUE(parsed) << selector << ": " << parsed.error().message();
  return parsed && parsed->Matches(labels);
}

TEST(LabelSelector, MatchesLabels) {
  const Labels labels = {{"a", "1"}, {"b", ""}, {"c", "two"}};
  for (const char* text :
       {"", " ", "a", "!d", "a=1", "a==1", "a = 1", "a!=2", "d!=2", "a in (0,1)", "a notin (2)",
        "d notin (2)", "a>0", "a<2", "a=1,b=,c", "b=", "a in ( 1 , 2 ),c"}) {
    EXPECT_TRUE(Matches(text, labels)) << text;
  }
  for (const char* text : {"d", "!a", "a=2", "a!=1", "a in (2)", "d in (2)", "a notin (1)", "a>1",
                           "c>1", "d>1", "a<1", "a=1,d"}) {
    EXPECT_FALSE(Matches(text, labels)) << text;
  }
}

TEST(LabelSelector, TakesAnEmptyValueInASet) {
  EXPECT_TRUE(Matches("x in (abc,)", {{"x", ""}}));
  EXPECT_TRUE(Matches("x in (abc,)", {{"x", "abc"}}));
  EXPECT_FALSE(Matches("x in (abc,)", {{"x", "b"}}));
  EXPECT_TRUE(Matches("x!=a", {}));
  EXPECT_TRUE(Matches("x>1", {{"x", "2"}}));
  EXPECT_FALSE(Matches("x>1", {{"x", "two"}}));
}

TEST(LabelSelector, RefusesOtherTexts) {
  for (const char* text : {"!x=a", "x<a", "x=a||y=b", "x,", ",x", "x in a", "x in (a", "x foo (a)",
                           "=a", "a/b/c=1", "x=-a"}) {
    EXPECT_FALSE(LabelSelector::Parse(text)) << text;
  }
}

TEST(LabelSelector, IsWrittenAsItIsRead) {
  for (const char* text : {"a=1,!b,c in (x,y),d notin (z,w),e!=q,f,g>5,h<6"}) {
    EXPECT_EQ(LabelSelector::Parse(text)->ToString(), text);
  }
}

TEST(LabelSelector, ReadsTheObjectForm) {
  const json::value selector = {{"matchLabels", {{"app", "x"}}},
                                {"matchExpressions",
                                 {{{"key", "tier"}, {"operator", "In"}, {"values", {"a", "b"}}},
                                  {{"key", "old"}, {"operator", "DoesNotExist"}}}}};
  const Result<LabelSelector> parsed = LabelSelector::FromJson(selector);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->Matches({{"app", "x"}, {"tier", "b"}}));
  EXPECT_FALSE(parsed->Matches({{"app", "x"}, {"tier", "c"}}));
  EXPECT_FALSE(parsed->Matches({{"app", "x"}, {"tier", "a"}, {"old", ""}}));
}

TEST(LabelSelector, NullSelectsNothingAndAnEmptyObjectEverything) {
  EXPECT_FALSE(LabelSelector::FromJson(nullptr)->Matches({}));
  EXPECT_TRUE(LabelSelector::FromJson(json::object())->Matches({{"a", "b"}}));
}

TEST(LabelSelector, RefusesBadExpressions) {
  const json::value bad[] = {
      {{{"key", "a"}, {"operator", "Like"}}},
      {{{"key", "a"}, {"operator", "In"}}},
      {{{"key", "a"}, {"operator", "Exists"}, {"values", {"x"}}}},
      {{{"key", "a"}, {"operator", "Gt"}, {"values", {"x"}}}},
  };
  for (const json::value& expressions : bad) {
    const json::value list = json::array{expressions.is_array() ? expressions.at(0) : expressions};
    EXPECT_FALSE(LabelSelector::FromExpressions(list)) << ToJson(list);
  }
}

TEST(LabelNames, FollowTheRules) {
  const std::string long_name(63, 'a');
  for (const std::string& key :
       {std::string("a"), std::string("nvidia.com/gpu.count"), long_name, std::string("A_b-c.d")}) {
    EXPECT_TRUE(ValidateLabelKey(key)) << key;
  }
  for (const std::string& key :
       {std::string("a/b/c"), std::string("/x"), std::string("x_"), long_name + "a",
        std::string(""), std::string("A.com/x"), std::string("a..b/x"), std::string("x/")}) {
    EXPECT_FALSE(ValidateLabelKey(key)) << key;
  }
  EXPECT_FALSE(ValidateLabelValue("-a"));
  EXPECT_FALSE(ValidateLabelValue("a b"));
  EXPECT_TRUE(ValidateLabelValue(""));
  EXPECT_TRUE(ValidateLabelValue("570.86.15"));
}

json::value Affinity(const std::string& terms) {
  return *ParseJson(
      R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":)" +
      terms + "}}}}");
}

TEST(NodeAffinity, FollowsTheSchedulersRules) {
  const Labels labels = {{"n", "5"}, {"zone", "a"}};
  const auto matches = [&](const std::string& terms) {
    return MatchesNodeAffinity(Affinity(terms), labels, "n1");
  };
  EXPECT_FALSE(*matches("[]"));
  EXPECT_FALSE(*matches("[{}]"));
  EXPECT_TRUE(*matches(R"([{"matchExpressions":[{"key":"n","operator":"Gt","values":["4"]}]}])"));
  EXPECT_TRUE(*matches(R"([{"matchExpressions":[{"key":"n","operator":"What"}]},)"
                       R"({"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}])"));
  EXPECT_FALSE(matches(R"([{"matchExpressions":[{"key":"n","operator":"What"}]}])"));
  EXPECT_TRUE(
      *matches(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}])"));
  EXPECT_FALSE(*matches(
      R"([{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n1"]}]}])"));
  EXPECT_FALSE(matches(R"([{"matchFields":[{"key":"metadata.name","operator":"Exists"}]}])"));
}

TEST(NodeAffinity, AddsTheNodeSelector) {
  EXPECT_TRUE(*MatchesNodeAffinity({{"nodeSelector", {{"a", "b"}}}}, {{"a", "b"}}, "n"));
  EXPECT_FALSE(*MatchesNodeAffinity({{"nodeSelector", {{"a", "b"}}}}, {{"a", "c"}}, "n"));
  EXPECT_TRUE(*MatchesNodeAffinity(json::object(), {}, "n"));
}

TEST(Toleration, FollowsTheSchedulersRules) {
  const json::value taint = {{"key", "a"}, {"value", "v"}, {"effect", "NoSchedule"}};
  const auto tolerates = [&](const char* text) { return Tolerates(*ParseJson(text), taint); };
  EXPECT_TRUE(tolerates(R"({"operator":"Exists"})"));
  EXPECT_TRUE(tolerates(R"({"key":"a","value":"v"})"));
  EXPECT_TRUE(tolerates(R"({"key":"a","operator":"Exists","effect":"NoSchedule"})"));
  EXPECT_FALSE(tolerates(R"({"key":"a","value":"w"})"));
  EXPECT_FALSE(tolerates(R"({"key":"a","operator":"Exists","effect":"NoExecute"})"));
  EXPECT_FALSE(tolerates(R"({"key":"b","operator":"Exists"})"));
  EXPECT_FALSE(tolerates("{}"));
}

}  // namespace
}  // namespace pawl::kube
