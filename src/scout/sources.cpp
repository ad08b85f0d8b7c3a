#include "scout/sources.h"

#include "base/files.h"
#include "gpu/node_features.h"
#include "gpu/pci.h"

namespace pawl::scout {
namespace {

using LabelsOf = Labels (*)(std::string_view text);

Source FromText(std::vector<std::string_view> prefixes, const Result<std::string>& text,
                LabelsOf labels_of, std::vector<std::string>& problems) {
  if (text) return {std::move(prefixes), labels_of(*text)};
  problems.push_back(text.error().message());
  return {std::move(prefixes), std::nullopt};
}

// The file may be a link that is to be followed below the root.
Result<std::string> ReadBelow(const std::string& root, std::string_view path) {
  const Result<std::string> real = ResolveUnder(root, path);
  if (!real) return Fail(real.error().With("reading " + std::string(path)));
  return ReadFile(*real);
}

Source Pci(const std::string& host_root, std::vector<std::string>& problems) {
  Source source = {{"feature.node.kubernetes.io/pci-"}, std::nullopt};
  const auto functions = gpu::ScanPci(host_root);
  if (functions) {
    source.labels = gpu::PciLabels(*functions, gpu::PciLabelRules::GpuOperator());
  } else {
    problems.push_back(functions.error().message());
  }
  return source;
}

// A kernel without modules has no such file: it cannot tell, and that is no problem.
Source Modules(const std::string& proc_root, std::vector<std::string>& problems) {
  std::vector<std::string_view> prefixes = {"nvidia.com/gdrcopy.capable", "nvidia.com/gds.capable",
                                            "nvidia.com/peermem.capable"};
  const Result<std::string> text = ReadFile(Under(proc_root, "/proc/modules"));
  if (!text && text.error().kind() == ErrorKind::kNotFound) {
    return {std::move(prefixes), std::nullopt};
  }
  return FromText(std::move(prefixes), text, gpu::ModuleLabels, problems);
}

}  // namespace

std::vector<Source> ReadSources(const std::string& host_root, const std::string& proc_root,
                                std::vector<std::string>& problems) {
  std::vector<Source> sources;
  sources.push_back(Pci(host_root, problems));
  sources.push_back(FromText({"feature.node.kubernetes.io/kernel-version."},
                             ReadFile(Under(proc_root, "/proc/sys/kernel/osrelease")),
                             gpu::KernelLabels, problems));
  sources.push_back(FromText({"feature.node.kubernetes.io/system-os_release."},
                             ReadBelow(host_root, "/etc/os-release"), gpu::OsReleaseLabels,
                             problems));
  sources.push_back(Modules(proc_root, problems));
  return sources;
}

}  // namespace pawl::scout
