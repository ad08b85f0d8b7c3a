#include "agent/own_node.h"

#include <gtest/gtest.h>

namespace pawl::agent {
namespace {

json::value Parse(std::string_view text) {
  const Result<json::value> value = ParseJson(text);
  EXPECT_TRUE(value);
  return *value;
}

OwnNode NodeFrom(std::string_view text) {
  const Result<OwnNode> node = ParseOwnNode(Parse(text), "pawl-agent");
  EXPECT_TRUE(node);
  return *node;
}

TEST(OwnNode, ReadsOnlyWhatConcernsGpus) {
  const OwnNode node = NodeFrom(R"({
    "metadata": {"name": "n1", "labels": {"nvidia.com/gpu.count": "4", "zone": "a"},
      "annotations": {"nfd.node.kubernetes.io/feature-labels": "nvidia.com/gpu.family,pci-10de.present"}},
    "status": {"allocatable": {"cpu": "2", "nvidia.com/gpu": "4"},
      "conditions": [{"type": "Ready", "status": "True"},
        {"type": "GPUReady", "status": "False", "reason": "DriverNotFound", "message": "m",
         "lastTransitionTime": "2026-01-02T03:04:05Z"}]}})");
  EXPECT_EQ(node.labels, (std::map<std::string, std::string>{{"nvidia.com/gpu.count", "4"}}));
  EXPECT_EQ(node.owners.nfd,
            (std::set<std::string>{"nvidia.com/gpu.family",
                                   "feature.node.kubernetes.io/pci-10de.present"}));
  EXPECT_EQ(node.allocatable, (std::map<std::string, int64_t>{{"nvidia.com/gpu", 4}}));
  ASSERT_TRUE(node.gpu_ready);
  EXPECT_EQ(node.gpu_ready->reason, "DriverNotFound");
  EXPECT_EQ(node.gpu_ready_since, "2026-01-02T03:04:05Z");
}

TEST(OwnNode, ANodeWithoutAnythingIsReadToo) { EXPECT_EQ(NodeFrom("{}"), OwnNode{}); }

TEST(OwnNode, LabelsThatNfdOwnsAreLeftToIt) {
  OwnNode node;
  node.owners.nfd = {"nvidia.com/gpu.family"};
  const Labels wanted = {{"nvidia.com/gpu.count", "4"}, {"nvidia.com/gpu.family", "turing"}};
  EXPECT_EQ(LabelsToWrite(wanted, &node), (Labels{{"nvidia.com/gpu.count", "4"}}));
  EXPECT_EQ(LabelsToWrite(wanted, nullptr), wanted);
}

TEST(OwnNode, ALabelThatNfdClaimsFromUsStaysOnTheNode) {
  OwnNode node;
  node.owners = {{"nvidia.com/gpu.family"}, {"nvidia.com/gpu.family"}};
  node.labels = {{"nvidia.com/gpu.family", "ampere"}};
  EXPECT_EQ(LabelsToWrite({{"nvidia.com/gpu.family", "turing"}}, &node), node.labels);
}

TEST(OwnNode, AMissingOrForeignValueIsADifference) {
  OwnNode node;
  node.labels = {{"nvidia.com/gpu.count", "4"}, {"nvidia.com/other", "x"}};
  EXPECT_FALSE(LabelsDiffer({{"nvidia.com/gpu.count", "4"}}, node));
  EXPECT_TRUE(LabelsDiffer({{"nvidia.com/gpu.count", "8"}}, node));
  EXPECT_TRUE(LabelsDiffer({{"nvidia.com/gpu.family", "turing"}}, node));
}

TEST(OwnNode, TheLabelsBodyHoldsNothingElse) {
  EXPECT_EQ(
      ToJson(LabelsBody("n1", {{"nvidia.com/gpu.count", "4"}})),
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"nvidia.com/gpu.count":"4"}}})");
}

TEST(OwnNode, TheTransitionTimeMovesWithTheStatusOnly) {
  OwnNode node;
  node.gpu_ready = NodeCondition{"True", "AllHealthy", ""};
  node.gpu_ready_since = "2026-01-02T03:04:05Z";
  const WallTime now{};
  const auto transition = [&](const NodeCondition& condition, const OwnNode* known) {
    const json::value body = ConditionBody("n1", condition, known, now);
    return TextAt(body.at("status").at("conditions").at(0), {"lastTransitionTime"});
  };
  EXPECT_EQ(transition({"True", "Degraded", "one is lost"}, &node), "2026-01-02T03:04:05Z");
  EXPECT_EQ(transition({"False", "NvmlHung", ""}, &node), "1970-01-01T00:00:00Z");
  EXPECT_EQ(transition({"True", "AllHealthy", ""}, nullptr), "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace pawl::agent
