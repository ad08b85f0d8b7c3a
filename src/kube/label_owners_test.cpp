#include "kube/label_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr const char* kNode = R"({"metadata": {
  "annotations": {"nfd.node.kubernetes.io/feature-labels": "cpu-cpuid.AVX, vendor.example/x,"},
  "managedFields": [
    {"manager": "pawl-scout", "operation": "Apply",
     "fieldsV1": {"f:metadata": {"f:labels": {"f:vendor.example/x": {}}}}},
    {"manager": "pawl-scout", "operation": "Update",
     "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}}},
    {"manager": "kubectl", "operation": "Apply",
     "fieldsV1": {"f:metadata": {"f:labels": {"f:b": {}}}}}]}})";

TEST(LabelOwners, AreReadFromTheAnnotationAndFromManagedFields) {
  const LabelOwners owners = OwnersOfLabels(*ParseJson(kNode), "pawl-scout");
  EXPECT_THAT(owners.nfd,
              UnorderedElementsAre("feature.node.kubernetes.io/cpu-cpuid.AVX", "vendor.example/x"));
  EXPECT_THAT(owners.ours, ElementsAre("vendor.example/x"));
  EXPECT_EQ(OwnersOfLabels(*ParseJson("{}"), "pawl-scout"), LabelOwners());
}

TEST(LeaveToNfd, LeavesOutWhatWasNeverOurs) {
  const LabelOwners owners = {{"a"}, {"b"}};
  EXPECT_THAT(LeaveToNfd({{"a", "1"}, {"b", "2"}, {"c", "3"}}, owners, {{"a", "1"}}),
              ElementsAre(Pair("b", "2"), Pair("c", "3")));
}

TEST(LeaveToNfd, KeepsWhatIsOursWithTheValueOnTheNode) {
  const LabelOwners owners = {{"a"}, {"a"}};
  EXPECT_THAT(LeaveToNfd({{"a", "1"}}, owners, {{"a", "theirs"}}),
              ElementsAre(Pair("a", "theirs")));
}

TEST(LeaveToNfd, DoesNotBringBackWhatNfdTookOff) {
  const LabelOwners owners = {{"a"}, {"a"}};
  EXPECT_THAT(LeaveToNfd({{"a", "1"}}, owners, {}), IsEmpty());
}

}  // namespace
}  // namespace pawl::kube
