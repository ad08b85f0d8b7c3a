#include "operator/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace pawl::op {
namespace {

// "a=1 b=2"
kube::Labels Parse(std::string_view text) {
  kube::Labels labels;
  for (const std::string& word : SplitWords(text)) {
    const size_t equals = word.find('=');
    labels.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return labels;
}

std::string Text(const kube::Labels& labels) {
  std::vector<std::string> words;
  for (const auto& [key, value] : labels) words.push_back(key + "=" + value);
  return Join(words, " ");
}

// Short names in the table: @x is a deploy label, pci the PCI label, present gpu.present.
std::string Long(std::string_view text) {
  std::string out = ReplaceAll(text, "@", "nvidia.com/gpu.deploy.");
  out = ReplaceAll(out, "pci=", "feature.node.kubernetes.io/pci-10de.present=");
  out = ReplaceAll(out, "pci0300=", "feature.node.kubernetes.io/pci-0300_10de.present=");
  out = ReplaceAll(out, "present!", "nvidia.com/gpu.present=true");
  out = ReplaceAll(out, "absent!", "nvidia.com/gpu.present=false");
  out = ReplaceAll(
      out, "nine!",
      "nvidia.com/gpu.deploy.driver=true nvidia.com/gpu.deploy.gpu-feature-discovery=true "
      "nvidia.com/gpu.deploy.container-toolkit=true nvidia.com/gpu.deploy.device-plugin=true "
      "nvidia.com/gpu.deploy.dcgm=true nvidia.com/gpu.deploy.dcgm-exporter=true "
      "nvidia.com/gpu.deploy.node-status-exporter=true "
      "nvidia.com/gpu.deploy.operator-validator=true nvidia.com/gpu.deploy.client=true");
  return out;
}

struct Vector {
  const char* name;
  const char* before;
  const char* after;
  const char* mig_default = "";
};

class NodeLabels : public testing::TestWithParam<Vector> {};

// spec/operator.md §15, vectors 1 to 9.
TEST_P(NodeLabels, FollowTheVectors) {
  const Vector& vector = GetParam();
  Node node;
  node.labels = Parse(Long(vector.before));
  api::ClusterPolicy policy;
  policy.mig_default_config = vector.mig_default;
  const kube::Labels after = WithChanges(node.labels, WantedLabelChanges(node, policy));
  EXPECT_EQ(Text(after), Text(Parse(Long(vector.after))));

  node.labels = after;
  EXPECT_TRUE(WantedLabelChanges(node, policy).empty()) << "a second pass changes nothing";
}

INSTANTIATE_TEST_SUITE_P(
    Spec, NodeLabels,
    testing::Values(
        Vector{"v1_v5_gpu", "pci=true", "pci=true present! nine!"},
        Vector{"v2_no_gpu", "pci0300=false", "pci0300=false"},
        Vector{"graphics_gpu", "pci0300=true", "pci0300=true present! nine!"},
        Vector{"v3_gpu_gone", "present! nine! @mig-manager=true @vfio-manager=true @nvsm=true",
               "absent! @nvsm=true"},
        Vector{"v4_still_gone", "absent!", "absent!"},
        Vector{"v6_mig_capable", "pci=true nvidia.com/mig.capable=true",
               "pci=true nvidia.com/mig.capable=true present! nine! @mig-manager=true"},
        Vector{"v6_mig_default", "pci=true nvidia.com/mig.capable=true",
               "pci=true nvidia.com/mig.capable=true present! nine! @mig-manager=true "
               "nvidia.com/mig.config=all-disabled",
               "all-disabled"},
        Vector{"v7_mig_config_kept",
               "pci=true nvidia.com/mig.capable=true nvidia.com/mig.config=all-1g.10gb",
               "pci=true nvidia.com/mig.capable=true nvidia.com/mig.config=all-1g.10gb present! "
               "nine! @mig-manager=true",
               "all-disabled"},
        Vector{"v8_paused_kept", "pci=true present! nine! @mig-manager=paused-for-driver-upgrade",
               "pci=true present! nine! @mig-manager=paused-for-driver-upgrade"},
        Vector{"v9_kill_switch", "pci=true present! nine! @mig-manager=true @operands=false",
               "pci=true present! @operands=false"},
        Vector{"other_workload", "pci=true present! @vfio-manager=true @sandbox-validator=true",
               "pci=true present! nine!"},
        Vector{"dra_driver_stays_with_the_gpu", "pci=true present! nine! @dra-driver=true",
               "pci=true present! nine! @dra-driver=true"}),
    [](const auto& instance) { return std::string(instance.param.name); });

// Vector 8: three values of one key.
TEST(DeployLabels, KeepEveryWordButTheEmptyOne) {
  api::ClusterPolicy policy;
  Node node;
  node.labels = Parse(Long("pci=true"));
  const std::string key = "nvidia.com/gpu.deploy.device-plugin";
  for (const char* kept : {"paused-for-driver-upgrade", "false"}) {
    node.labels[key] = kept;
    EXPECT_FALSE(WantedLabelChanges(node, policy).contains(key)) << kept;
  }
  node.labels[key] = "";
  EXPECT_EQ(WantedLabelChanges(node, policy).at(key), "true");
}

// Vector 13.
TEST(MigCapable, IsTheLabelsWordOrTheModels) {
  EXPECT_TRUE(IsMigCapable(Parse("nvidia.com/gpu.product=NVIDIA-A30")));
  EXPECT_FALSE(IsMigCapable(Parse("nvidia.com/gpu.product=NVIDIA-T4")));
  EXPECT_FALSE(
      IsMigCapable(Parse("nvidia.com/mig.capable=false nvidia.com/gpu.product=NVIDIA-H100")));
  EXPECT_FALSE(IsMigCapable(
      Parse("nvidia.com/vgpu.host-driver-version=535.54 nvidia.com/mig.capable=true")));
}

}  // namespace
}  // namespace pawl::op
