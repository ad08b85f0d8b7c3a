#include "kube/object.h"

#include <gtest/gtest.h>

namespace pawl::kube {
namespace {

TEST(Resource, KnowsItsPath) {
  EXPECT_EQ(kDaemonSets.Path("g", "d", "status"), "/apis/apps/v1/namespaces/g/daemonsets/d/status");
  EXPECT_EQ(kNodes.Path("", "n1"), "/api/v1/nodes/n1");
  EXPECT_EQ(kPods.Path(""), "/api/v1/pods");
  EXPECT_EQ(kPods.Path("g", "a/../b"), "/api/v1/namespaces/g/pods/a%2F..%2Fb");
}

TEST(Object, ReadsMissingFieldsAsEmpty) {
  const json::value object = json::object();
  EXPECT_EQ(Name(object), "");
  EXPECT_EQ(Generation(object), 0);
  EXPECT_FALSE(IsDeleting(object));
  EXPECT_TRUE(LabelsOf(object).empty());
  EXPECT_FALSE(Label(object, "a"));
  EXPECT_FALSE(ControllerOf(object));
  EXPECT_EQ(Condition(object, "Ready"), nullptr);
  EXPECT_EQ(Name(json::value(3)), "");
}

TEST(Object, ReadsMetadata) {
  const json::value object = {
      {"metadata",
       {{"name", "d"},
        {"namespace", "g"},
        {"generation", 4},
        {"labels", {{"a", "b"}, {"bad", 1}}},
        {"ownerReferences",
         {{{"apiVersion", "nvidia.com/v1"},
           {"kind", "ClusterPolicy"},
           {"name", "cp"},
           {"uid", "u"},
           {"controller", true}}}}}},
      {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  EXPECT_EQ(KeyOf(object).Text(), "g/d");
  EXPECT_EQ(Generation(object), 4);
  EXPECT_EQ(LabelsOf(object), (Labels{{"a", "b"}}));
  EXPECT_EQ(TextAt(*Condition(object, "Ready"), {"status"}), "True");
}

TEST(Object, NamesItsController) {
  const json::value owner = {{"metadata", {{"name", "cp"}, {"uid", "u"}}}};
  constexpr Resource kPolicies{"nvidia.com", "v1", "clusterpolicies", "ClusterPolicy", false};
  json::object object = NewObject(kDaemonSets, "g", "d");
  json::array references;
  references.push_back(OwnerReference(kPolicies, owner));
  object["metadata"].get_object()["ownerReferences"] = std::move(references);
  const std::optional<Owner> controller = ControllerOf(object);
  ASSERT_TRUE(controller);
  EXPECT_EQ(controller->group, "nvidia.com");
  EXPECT_EQ(controller->kind, "ClusterPolicy");
  EXPECT_EQ(controller->uid, "u");
}

TEST(IsSubset, AllowsMoreInObjectsAndTheSameInArrays) {
  const json::value live = {
      {"a", 1}, {"b", {{"c", "x"}, {"d", "y"}}}, {"l", {{{"n", 1}, {"m", 2}}}}};
  const auto subset = [&](const char* text) { return IsSubset(*ParseJson(text), live); };
  EXPECT_TRUE(subset("{}"));
  EXPECT_TRUE(subset(R"({"a":1,"b":{"c":"x"}})"));
  EXPECT_TRUE(subset(R"({"l":[{"n":1}]})"));
  EXPECT_FALSE(subset(R"({"a":2})"));
  EXPECT_FALSE(subset(R"({"e":1})"));
  EXPECT_FALSE(subset(R"({"l":[]})"));
  EXPECT_FALSE(subset(R"({"b":"c"})"));
}

}  // namespace
}  // namespace pawl::kube
