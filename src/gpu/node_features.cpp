#include "gpu/node_features.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/files.h"
#include "base/text.h"

namespace pawl::gpu {
namespace {

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsLabelCharacter(char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; }

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string Feature(std::string_view name) {
  return std::string(kFeaturePrefix) + std::string(name);
}

void Put(Labels& labels, std::string key, std::string_view value) {
  if (IsLabelValue(value)) labels[std::move(key)] = value;
}

// The leading digits of `text`, which are taken off it; empty where it does not begin with one.
std::string_view TakeNumber(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && IsNumber(text.substr(length, 1))) ++length;
  const std::string_view number = text.substr(0, length);
  text.remove_prefix(length);
  return number;
}

struct KernelVersion {
  std::string_view major;
  std::string_view minor;
  std::string_view revision;
};

// major[.minor][.revision][-anything]
std::optional<KernelVersion> ParseKernelVersion(std::string_view full) {
  KernelVersion version;
  std::array<std::string_view*, 3> parts = {&version.major, &version.minor, &version.revision};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      if (!full.starts_with('.')) break;
      full.remove_prefix(1);
    }
    *parts[i] = TakeNumber(full);
    if (parts[i]->empty()) return std::nullopt;
  }
  if (!full.empty() && !full.starts_with('-')) return std::nullopt;
  return version;
}

// The text of a file, or its complaint in `problems`.
std::optional<std::string> Read(const std::string& root, std::string_view path,
                                std::vector<std::string>& problems) {
  Result<std::string> text = ReadFile(Under(root, path), size_t{4} << 20);
  if (text) return std::move(*text);
  problems.push_back(text.error().message());
  return std::nullopt;
}

}  // namespace

bool IsLabelValue(std::string_view value) {
  constexpr size_t kLongest = 63;
  if (value.empty()) return true;
  return value.size() <= kLongest && IsAlphanumeric(value.front()) &&
         IsAlphanumeric(value.back()) && std::all_of(value.begin(), value.end(), IsLabelCharacter);
}

PciLabelRules PciLabelRules::GpuOperator() {
  return {.class_prefixes = {"02", "0200", "0207", "0300", "0302"}, .name_has_class = false};
}

PciLabelRules PciLabelRules::NfdDefault() {
  return {.class_prefixes = {"03", "0b40", "12"}, .name_has_class = true};
}

Labels PciLabels(const std::vector<PciFunction>& functions, const PciLabelRules& rules) {
  constexpr size_t kClassDigits = 4;
  Labels labels;
  for (const PciFunction& function : functions) {
    if (function.subsystem_vendor.empty() || function.subsystem_device.empty()) continue;
    const std::string device_class = function.device_class.substr(0, kClassDigits);
    const bool listed =
        std::any_of(rules.class_prefixes.begin(), rules.class_prefixes.end(),
                    [&](const std::string& prefix) { return device_class.starts_with(prefix); });
    if (!listed) continue;
    std::string key = Feature("pci-");
    if (rules.name_has_class) key += device_class + "_";
    key += function.vendor;
    labels[key + ".present"] = "true";
    if (function.sriov_capable) labels[key + ".sriov.capable"] = "true";
  }
  return labels;
}

Labels KernelLabels(std::string_view osrelease) {
  std::string full(Trim(osrelease));
  for (char& c : full) {
    if (!IsLabelCharacter(c)) c = '_';
  }
  while (!full.empty() && !IsAlphanumeric(full.back())) full.pop_back();
  full.erase(full.begin(), std::find_if(full.begin(), full.end(), IsAlphanumeric));
  Labels labels;
  if (full.empty()) return labels;
  Put(labels, Feature("kernel-version.full"), full);
  if (const std::optional<KernelVersion> version = ParseKernelVersion(full)) {
    Put(labels, Feature("kernel-version.major"), version->major);
    Put(labels, Feature("kernel-version.minor"), version->minor);
    Put(labels, Feature("kernel-version.revision"), version->revision);
  }
  return labels;
}

Labels OsReleaseLabels(std::string_view os_release) {
  Labels labels;
  for (const std::string& line : Lines(os_release)) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, equals);
    std::string_view value = std::string_view(line).substr(equals + 1);
    const auto is_quote = [](char c) { return c == '"' || c == '\''; };
    while (!value.empty() && is_quote(value.front())) value.remove_prefix(1);
    while (!value.empty() && is_quote(value.back())) value.remove_suffix(1);
    if (value.empty()) continue;
    if (key == "ID") Put(labels, Feature("system-os_release.ID"), value);
    if (key != "VERSION_ID") continue;
    Put(labels, Feature("system-os_release.VERSION_ID"), value);
    // N, N.M, N.M.rest or N.rest.
    std::string_view rest = value;
    const std::string_view major = TakeNumber(rest);
    if (major.empty() || (!rest.empty() && !rest.starts_with('.'))) continue;
    Put(labels, Feature("system-os_release.VERSION_ID.major"), major);
    if (rest.empty()) continue;
    rest.remove_prefix(1);
    const std::string_view minor = TakeNumber(rest);
    if (!minor.empty() && (rest.empty() || rest.starts_with('.'))) {
      Put(labels, Feature("system-os_release.VERSION_ID.minor"), minor);
    }
  }
  return labels;
}

Labels ModuleLabels(std::string_view proc_modules) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kModules = {{
      {"gdrdrv", "nvidia.com/gdrcopy.capable"},
      {"nvidia_fs", "nvidia.com/gds.capable"},
      {"nvidia_peermem", "nvidia.com/peermem.capable"},
  }};
  Labels labels;
  for (const std::string& line : Lines(proc_modules)) {
    const std::string_view module = std::string_view(line).substr(0, line.find(' '));
    for (const auto& [name, label] : kModules) {
      if (module == name) labels[label] = "true";
    }
  }
  return labels;
}

NodeFeatures ReadNodeFeatures(const std::string& root) {
  NodeFeatures features;
  const Result<std::vector<PciFunction>> functions = ScanPci(root);
  if (functions) {
    features.labels = PciLabels(*functions, PciLabelRules::GpuOperator());
    features.has_nvidia_gpu = !NvidiaGpus(*functions).empty();
  } else {
    features.problems.push_back(functions.error().message());
  }
  if (const auto text = Read(root, "/proc/sys/kernel/osrelease", features.problems)) {
    features.labels.merge(KernelLabels(*text));
  }
  if (const auto text = Read(root, "/etc/os-release", features.problems)) {
    features.labels.merge(OsReleaseLabels(*text));
  }
  if (const auto text = Read(root, "/proc/modules", features.problems)) {
    features.labels.merge(ModuleLabels(*text));
  }
  return features;
}

}  // namespace pawl::gpu
