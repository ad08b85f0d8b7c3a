// The labels of a bare machine that the rest relies on, the same that Node Feature Discovery would
// write (spec/feature-discovery.md §11): PCI classes, kernel version, operating system. Pure: texts
// and PCI lists in, labels out. A value that is no legal label value is left out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/pci.h"

namespace pawl::gpu {

using Labels = std::map<std::string, std::string>;

inline constexpr std::string_view kFeaturePrefix = "feature.node.kubernetes.io/";

// Empty, or at most 63 of A-Z a-z 0-9 - _ . with a letter or digit at both ends.
bool IsLabelValue(std::string_view value);

// Which PCI functions are labelled, and by which of their fields (§11.2).
struct PciLabelRules {
  std::vector<std::string> class_prefixes;
  bool name_has_class = false;  // vendor alone, or class_vendor

  static PciLabelRules GpuOperator();  // 02, 0200, 0207, 0300, 0302; by vendor
  static PciLabelRules NfdDefault();   // 03, 0b40, 12; by class and vendor
};

Labels PciLabels(const std::vector<PciFunction>& functions, const PciLabelRules& rules);
Labels KernelLabels(std::string_view osrelease);      // text of /proc/sys/kernel/osrelease
Labels OsReleaseLabels(std::string_view os_release);  // text of /etc/os-release
Labels ModuleLabels(std::string_view proc_modules);   // text of /proc/modules; nvidia.com/…

// All of them, read below `root`. What cannot be read gives no labels and is said in `problems`,
// so that a caller keeps the labels it published before instead of taking them away.
struct NodeFeatures {
  Labels labels;
  std::vector<std::string> problems;
  bool has_nvidia_gpu = false;
};
NodeFeatures ReadNodeFeatures(const std::string& root);

}  // namespace pawl::gpu
