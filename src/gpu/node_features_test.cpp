#include "gpu/node_features.h"

#include <gtest/gtest.h>

#include "gpu/temporary_folder_test.h"

namespace pawl::gpu {
namespace {

PciFunction Function(const std::string& device_class, const std::string& vendor) {
  PciFunction function;
  function.device_class = device_class;
  function.vendor = vendor;
  function.device = "2330";
  function.subsystem_vendor = vendor;
  function.subsystem_device = "16c1";
  return function;
}

TEST(PciLabels, NameAGpuByTheRulesOfTheChart) {  // spec/feature-discovery.md, vector 39
  const std::vector<PciFunction> functions = {Function("030200", "10de")};
  EXPECT_EQ(PciLabels(functions, PciLabelRules::GpuOperator()),
            (Labels{{"feature.node.kubernetes.io/pci-10de.present", "true"}}));
  EXPECT_EQ(PciLabels(functions, PciLabelRules::NfdDefault()),
            (Labels{{"feature.node.kubernetes.io/pci-0302_10de.present", "true"}}));
}

TEST(PciLabels, SayNothingOfASwitch) {  // vector 40
  EXPECT_TRUE(PciLabels({Function("068000", "10de")}, PciLabelRules::GpuOperator()).empty());
}

TEST(PciLabels, TellNetworkCardsAndVirtualFunctions) {
  PciFunction card = Function("020700", "15b3");
  card.sriov_capable = true;
  EXPECT_EQ(PciLabels({card}, PciLabelRules::GpuOperator()),
            (Labels{{"feature.node.kubernetes.io/pci-15b3.present", "true"},
                    {"feature.node.kubernetes.io/pci-15b3.sriov.capable", "true"}}));
}

TEST(PciLabels, SkipAFunctionThatIsNotWhollyReadable) {
  PciFunction function = Function("030200", "10de");
  function.subsystem_device.clear();
  EXPECT_TRUE(PciLabels({function}, PciLabelRules::GpuOperator()).empty());
}

std::string Kernel(const Labels& labels, const std::string& part) {
  const auto found = labels.find("feature.node.kubernetes.io/kernel-version." + part);
  return found == labels.end() ? "(absent)" : found->second;
}

TEST(KernelLabels, TakeTheVersionApart) {
  const Labels odd = KernelLabels("6.0.10-100+123.x86_64~\n");  // vector 36
  EXPECT_EQ(Kernel(odd, "full"), "6.0.10-100_123.x86_64");
  EXPECT_EQ(Kernel(odd, "major"), "6");
  EXPECT_EQ(Kernel(odd, "minor"), "0");
  EXPECT_EQ(Kernel(odd, "revision"), "10");
  const Labels brief = KernelLabels("6.8\n");  // vector 37
  EXPECT_EQ(Kernel(brief, "full"), "6.8");
  EXPECT_EQ(Kernel(brief, "minor"), "8");
  EXPECT_EQ(Kernel(brief, "revision"), "");
  const Labels words = KernelLabels("v6.8\n");
  EXPECT_EQ(Kernel(words, "full"), "v6.8");
  EXPECT_EQ(Kernel(words, "major"), "(absent)");
  EXPECT_EQ(Kernel(KernelLabels("5.14.0.1-x"), "major"), "(absent)");
  EXPECT_TRUE(KernelLabels("\n").empty());
}

std::string Os(std::string_view text, const std::string& part) {
  const Labels labels = OsReleaseLabels(text);
  const auto found = labels.find("feature.node.kubernetes.io/system-os_release." + part);
  return found == labels.end() ? "(absent)" : found->second;
}

TEST(OsReleaseLabels, TellTheSystemAndItsVersion) {  // vector 38
  const std::string_view rhel = "NAME=\"Red Hat\"\nID=\"rhel\"\nVERSION_ID=\"9.4\"\n";
  EXPECT_EQ(Os(rhel, "ID"), "rhel");
  EXPECT_EQ(Os(rhel, "VERSION_ID"), "9.4");
  EXPECT_EQ(Os(rhel, "VERSION_ID.major"), "9");
  EXPECT_EQ(Os(rhel, "VERSION_ID.minor"), "4");
}

struct VersionCase {
  const char* version;
  const char* major;
  const char* minor;
};
TEST(OsReleaseLabels, SplitOnlyVersionsOfNumbers) {
  const VersionCase cases[] = {
      {"12", "12", "(absent)"},
      {"22.04", "22", "04"},
      {"9.4.1", "9", "4"},
      {"9.beta", "9", "(absent)"},
      {"tumbleweed", "(absent)", "(absent)"},
      {"40a", "(absent)", "(absent)"},
  };
  for (const VersionCase& one : cases) {
    const std::string text = std::string("VERSION_ID='") + one.version + "'\n";
    EXPECT_EQ(Os(text, "VERSION_ID.major"), one.major) << one.version;
    EXPECT_EQ(Os(text, "VERSION_ID.minor"), one.minor) << one.version;
  }
}

TEST(OsReleaseLabels, LeaveOutWhatIsNoLabelValue) {
  EXPECT_EQ(Os("ID=\"a b\"\n", "ID"), "(absent)");
  EXPECT_EQ(Os("ID=\"\"\n", "ID"), "(absent)");
}

TEST(ModuleLabels, TellWhatTheLoadedModulesCanDo) {
  EXPECT_EQ(ModuleLabels("nvidia_fs 323584 0 - Live 0x0\nnvidia 1 1 nvidia_peermem, Live\n"),
            (Labels{{"nvidia.com/gds.capable", "true"}}));
}

TEST(IsLabelValue, KnowsTheRulesOfKubernetes) {
  EXPECT_TRUE(IsLabelValue(""));
  EXPECT_TRUE(IsLabelValue("a-B_c.9"));
  EXPECT_FALSE(IsLabelValue("a b"));
  EXPECT_FALSE(IsLabelValue("a."));
  EXPECT_FALSE(IsLabelValue("-a"));
  EXPECT_TRUE(IsLabelValue(std::string(63, 'x')));
  EXPECT_FALSE(IsLabelValue(std::string(64, 'x')));
}

TEST(ReadNodeFeatures, SaysWhatItCouldNotRead) {
  const TemporaryFolder root;
  root.Write("proc/sys/kernel/osrelease", "6.1.0-30-amd64\n");
  root.Write("proc/modules", "");
  const NodeFeatures features = ReadNodeFeatures(root.path());
  EXPECT_EQ(Kernel(features.labels, "full"), "6.1.0-30-amd64");
  EXPECT_FALSE(features.has_nvidia_gpu);
  ASSERT_EQ(features.problems.size(), 1U);
  EXPECT_NE(features.problems[0].find("os-release"), std::string::npos);
}

}  // namespace
}  // namespace pawl::gpu
