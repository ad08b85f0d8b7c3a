#include "scout/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"

namespace pawl::scout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kPci = "feature.node.kubernetes.io/pci-10de.present";
constexpr const char* kKernel = "feature.node.kubernetes.io/kernel-version.full";

Source Pci(std::optional<Labels> labels) {
  return {{"feature.node.kubernetes.io/pci-"}, std::move(labels)};
}
Source Kernel(std::optional<Labels> labels) {
  return {{"feature.node.kubernetes.io/kernel-version."}, std::move(labels)};
}

TEST(OwnNode, IsReadFromItsObject) {
  const json::value object = ParseYaml(R"(
metadata:
  name: n1
  labels: {kubernetes.io/os: linux, feature.node.kubernetes.io/pci-10de.present: "true", nvidia.com/gpu.count: "4"}
  annotations: {nfd.node.kubernetes.io/feature-labels: "cpu-cpuid.AVX, vendor.example/x,"}
  managedFields:
  - {manager: pawl-scout, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:feature.node.kubernetes.io/pci-10de.present": {}}}}}
  - {manager: pawl-scout, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {"f:a": {}}}}}
  - {manager: kubectl, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:b": {}}}}}
)")
                                 .value();
  const auto node = ParseOwnNode(object, "pawl-scout");
  ASSERT_TRUE(node);
  EXPECT_THAT(node->labels, ElementsAre(Pair(kPci, "true"), Pair("nvidia.com/gpu.count", "4")));
  EXPECT_THAT(node->owners.nfd,
              UnorderedElementsAre("feature.node.kubernetes.io/cpu-cpuid.AVX", "vendor.example/x"));
  EXPECT_THAT(node->owners.ours, ElementsAre(kPci));
}

TEST(WantedLabels, AreWhatWasRead) {
  const std::vector<Source> sources = {Pci(Labels{{kPci, "true"}}),
                                       Kernel(Labels{{kKernel, "6.1"}})};
  const Labels wanted = WantedLabels(sources, OwnNode());
  EXPECT_THAT(wanted, ElementsAre(Pair(kKernel, "6.1"), Pair(kPci, "true")));
  EXPECT_FALSE(AreThere(wanted, OwnNode()));
}

TEST(WantedLabels, OutliveAReadFailure) {
  OwnNode node;
  node.labels = {{kPci, "true"}, {kKernel, "6.1"}};
  node.owners.ours = {kPci, kKernel};
  const Labels wanted = WantedLabels({Pci(std::nullopt), Kernel(Labels{{kKernel, "6.2"}})}, node);
  EXPECT_THAT(wanted, ElementsAre(Pair(kKernel, "6.2"), Pair(kPci, "true")));
}

TEST(WantedLabels, GoWhenTheHardwareIsReadAndGone) {
  OwnNode node;
  node.labels = {{kPci, "true"}};
  node.owners.ours = {kPci};
  const Labels wanted = WantedLabels({Pci(Labels{})}, node);
  EXPECT_THAT(wanted, IsEmpty());
  EXPECT_FALSE(AreThere(wanted, node));
}

TEST(WantedLabels, AFailureTakesOverNobodyElsesLabels) {
  OwnNode node;
  node.labels = {{kPci, "true"}};
  EXPECT_THAT(WantedLabels({Pci(std::nullopt)}, node), IsEmpty());
}

TEST(WantedLabels, LeaveToNodeFeatureDiscoveryWhatItOwns) {
  OwnNode node;
  node.owners.nfd = {kPci};
  EXPECT_THAT(WantedLabels({Pci(Labels{{kPci, "true"}}), Kernel(Labels{{kKernel, "6.1"}})}, node),
              ElementsAre(Pair(kKernel, "6.1")));
}

// Left out of what we apply, the API server would take a label off that only we have applied.
TEST(WantedLabels, StayOnTheNodeWhenNodeFeatureDiscoveryClaimsThem) {
  OwnNode node;
  node.labels = {{kPci, "true"}};
  node.owners = {{kPci}, {kPci}};
  const Labels wanted = WantedLabels({Pci(Labels{{kPci, "true"}})}, node);
  EXPECT_THAT(wanted, ElementsAre(Pair(kPci, "true")));
  EXPECT_TRUE(AreThere(wanted, node));
}

TEST(AreThere, SeesLostAndChangedLabels) {
  OwnNode node;
  node.labels = {{kPci, "true"}};
  node.owners.ours = {kPci};
  const Labels wanted = {{kPci, "true"}};
  EXPECT_TRUE(AreThere(wanted, node));
  node.labels[kPci] = "false";
  EXPECT_FALSE(AreThere(wanted, node));
  node.labels.clear();
  EXPECT_FALSE(AreThere(wanted, node));
  node.labels = wanted;
  node.owners.ours.clear();  // somebody else's
  EXPECT_FALSE(AreThere(wanted, node));
}

}  // namespace
}  // namespace pawl::scout
