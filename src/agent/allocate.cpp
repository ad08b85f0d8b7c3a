#include "agent/allocate.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"

namespace pawl::agent {
namespace {

constexpr std::string_view kVolumeMountRoot = "/var/run/nvidia-container-devices";

bool Has(const AllocationRules& rules, ListStrategy strategy) {
  return std::find(rules.strategies.begin(), rules.strategies.end(), strategy) !=
         rules.strategies.end();
}

bool IsCdi(ListStrategy strategy) {
  return strategy == ListStrategy::kCdiAnnotations || strategy == ListStrategy::kCdiCri;
}

void AppendNew(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string JoinPath(std::string_view root, std::string_view path) {
  while (!root.empty() && root.back() == '/') root.remove_suffix(1);
  return std::string(root) + std::string(path);
}

void AddCdi(const AllocationRules& rules, const std::vector<std::string>& names,
            const std::string& request_uuid, node::AllocateAnswer& answer) {
  std::vector<std::string> qualified;
  qualified.reserve(names.size());
  for (const std::string& name : names) {
    qualified.push_back(std::string(kPluginCdiVendor) + "/" + std::string(kPluginCdiClass) + "=" +
                        name);
  }
  if (Has(rules, ListStrategy::kCdiAnnotations)) {
    answer.annotations[rules.cdi_annotation_prefix + "nvidia-device-plugin_" + request_uuid] =
        Join(qualified, ",");
  }
  if (Has(rules, ListStrategy::kCdiCri)) answer.cdi_devices = std::move(qualified);
}

void AddVolumeMounts(const std::vector<std::string>& names, node::AllocateAnswer& answer) {
  answer.envs["NVIDIA_VISIBLE_DEVICES"] = kVolumeMountRoot;
  for (const std::string& name : names) {
    answer.mounts.push_back({std::string(kVolumeMountRoot) + "/" + name, "/dev/null", false});
  }
}

void AddNodes(const AllocatableDevices& devices, const std::vector<std::string>& ids,
              node::AllocateAnswer& answer) {
  std::vector<std::string> paths = devices.control_nodes;
  for (const std::string& id : ids) {
    for (const std::string& path : devices.by_id.at(id).nodes) AppendNew(paths, path);
  }
  for (const std::string& path : paths) {
    answer.devices.push_back({path, JoinPath(devices.dev_root, path), "rw"});
  }
}

}  // namespace

Result<std::vector<ListStrategy>> ParseListStrategies(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, ListStrategy>, 4> kWords = {
      {{"envvar", ListStrategy::kEnvvar},
       {"volume-mounts", ListStrategy::kVolumeMounts},
       {"cdi-annotations", ListStrategy::kCdiAnnotations},
       {"cdi-cri", ListStrategy::kCdiCri}}};
  std::vector<ListStrategy> strategies;
  for (const std::string& part : Split(text, ',')) {
    const std::string_view word = Trim(part);
    const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                           [&](const auto& known) { return known.first == word; });
    if (found == kWords.end()) {
      return Fail(ErrorKind::kInvalid,
                  "device list strategy \"" + std::string(word) +
                      "\": expected envvar, volume-mounts, cdi-annotations or cdi-cri");
    }
    strategies.push_back(found->second);
  }
  return strategies;
}

Result<IdStrategy> ParseIdStrategy(std::string_view word) {
  if (word == "uuid") return IdStrategy::kUuid;
  if (word == "index") return IdStrategy::kIndex;
  return Fail(ErrorKind::kInvalid,
              "device ID strategy \"" + std::string(word) + "\": expected uuid or index");
}

Result<node::AllocateAnswer> AnswerAllocate(const AllocationRules& rules,
                                            const AllocatableDevices& devices,
                                            const std::vector<std::string>& ids,
                                            const std::string& request_uuid) {
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const auto found = devices.by_id.find(id);
    if (found == devices.by_id.end()) {
      return Fail(ErrorKind::kInvalid, devices.resource + " has no device \"" + id + "\"");
    }
    AppendNew(names, rules.id_strategy == IdStrategy::kIndex ? found->second.index
                                                             : id.substr(0, id.find("::")));
  }
  node::AllocateAnswer answer;
  AddCdi(rules, names, request_uuid, answer);
  if (std::all_of(rules.strategies.begin(), rules.strategies.end(), IsCdi)) return answer;
  if (Has(rules, ListStrategy::kEnvvar)) {
    answer.envs["NVIDIA_VISIBLE_DEVICES"] = Join(names, ",");
  }
  if (Has(rules, ListStrategy::kVolumeMounts)) AddVolumeMounts(names, answer);
  if (rules.pass_device_specs) AddNodes(devices, ids, answer);
  return answer;
}

std::string NewUuid() {
  std::array<unsigned char, 16> bytes{};
  // 16 bytes are never cut short, and the call cannot fail once the system has booted.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) bytes.fill(0);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 0x0FU];
  }
  return text;
}

}  // namespace pawl::agent
