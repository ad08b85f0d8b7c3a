#include "cdi/model/version.h"

#include <algorithm>
#include <array>

namespace pawl::cdi {
namespace {

constexpr std::array<std::string_view, 8> kTexts = {"0.3.0", "0.4.0", "0.5.0", "0.6.0",
                                                    "0.7.0", "0.8.0", "1.0.0", "1.1.0"};

Version MinimumOf(const Edits& edits) {
  if (!edits.net_devices.empty()) return Version::k1_1_0;
  if (edits.intel_rdt &&
      (!edits.intel_rdt->schemata.empty() || edits.intel_rdt->enable_monitoring)) {
    return Version::k1_1_0;
  }
  if (edits.intel_rdt || !edits.additional_gids.empty()) return Version::k0_7_0;
  for (const DeviceNode& node : edits.device_nodes) {
    if (!node.host_path.empty()) return Version::k0_5_0;
  }
  for (const Mount& mount : edits.mounts) {
    if (!mount.type.empty()) return Version::k0_4_0;
  }
  return Version::k0_3_0;
}

Version MinimumOf(const Device& device) {
  Version version = MinimumOf(device.edits);
  if (!device.annotations.empty()) version = std::max(version, Version::k0_6_0);
  if (!device.name.empty() && device.name.front() >= '0' && device.name.front() <= '9') {
    version = std::max(version, Version::k0_5_0);
  }
  return version;
}

}  // namespace

std::string_view ToString(Version version) { return kTexts.at(static_cast<size_t>(version)); }

Result<Version> ParseVersion(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('v')) digits.remove_prefix(1);
  const auto* const found = std::find(kTexts.begin(), kTexts.end(), digits);
  if (found == kTexts.end()) {
    return Fail(ErrorKind::kInvalid, "unknown CDI version \"" + std::string(text) +
                                         "\"; known are 0.3.0 to 0.8.0, 1.0.0 and 1.1.0");
  }
  return static_cast<Version>(found - kTexts.begin());
}

Version MinimumVersion(const Spec& spec) {
  Version version = MinimumOf(spec.edits);
  for (const Device& device : spec.devices) version = std::max(version, MinimumOf(device));
  const size_t slash = spec.kind.find('/');
  const bool dotted_class =
      slash != std::string::npos && spec.kind.find('.', slash) != std::string::npos;
  if (dotted_class || !spec.annotations.empty()) version = std::max(version, Version::k0_6_0);
  return version;
}

}  // namespace pawl::cdi
