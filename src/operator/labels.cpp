#include "operator/labels.h"

#include <algorithm>

#include "base/text.h"
#include "operator/names.h"

namespace pawl::op {
namespace {

// §3.3, the container workload.
constexpr std::string_view kContainerKeys[] = {
    "driver",        "gpu-feature-discovery", "container-toolkit",  "device-plugin", "dcgm",
    "dcgm-exporter", "node-status-exporter",  "operator-validator", "client"};

constexpr std::string_view kMigManagerKey = "mig-manager";

// Those of the other workloads and stacks. Keys that are in neither list are somebody else's.
constexpr std::string_view kOtherKeys[] = {"sandbox-device-plugin", "kata-sandbox-device-plugin",
                                           "sandbox-validator",     "vfio-manager",
                                           "kata-manager",          "cc-manager",
                                           "vgpu-manager",          "vgpu-device-manager",
                                           "dra-validator",         "dcgm-dra",
                                           "dcgm-exporter-dra"};

// Goes only with the GPU: a pod may still hold a claim that this driver has to unprepare (§3.5),
// and this version does not look at claims.
constexpr std::string_view kDraDriverKey = "dra-driver";

std::string DeployLabel(std::string_view key) {
  return std::string(kDeployPrefix) + std::string(key);
}

std::string ValueOf(const kube::Labels& labels, std::string_view key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string() : found->second;
}

void Remove(const kube::Labels& labels, std::string_view key, LabelChanges& changes) {
  std::string label = DeployLabel(key);
  if (labels.contains(label)) changes.emplace(std::move(label), std::nullopt);
}

void RemoveAll(const kube::Labels& labels, LabelChanges& changes) {
  for (const std::string_view key : kContainerKeys) Remove(labels, key, changes);
  for (const std::string_view key : kOtherKeys) Remove(labels, key, changes);
  Remove(labels, kMigManagerKey, changes);
  Remove(labels, kDraDriverKey, changes);
}

// A value that is there is a user's or a driver manager's word and is kept; an empty one counts as
// absent (§3.4).
void SetWhereMissing(const kube::Labels& labels, std::string label, std::string_view value,
                     LabelChanges& changes) {
  if (ValueOf(labels, label).empty()) changes.emplace(std::move(label), std::string(value));
}

}  // namespace

bool HasGpu(const kube::Labels& labels) {
  return std::any_of(kGpuPciLabels.begin(), kGpuPciLabels.end(),
                     [&labels](std::string_view key) { return ValueOf(labels, key) == "true"; });
}

bool IsMigCapable(const kube::Labels& labels) {
  if (!ValueOf(labels, "nvidia.com/vgpu.host-driver-version").empty()) return false;
  const auto capable = labels.find("nvidia.com/mig.capable");
  if (capable != labels.end()) return capable->second == "true";
  const std::string product = ToLower(ValueOf(labels, "nvidia.com/gpu.product"));
  for (const std::string_view model : {"h100", "a100", "a30"}) {
    if (product.find(model) != std::string::npos) return true;
  }
  return false;
}

LabelChanges WantedLabelChanges(const Node& node, const api::ClusterPolicy& policy) {
  LabelChanges changes;
  const kube::Labels& labels = node.labels;
  const std::string present = ValueOf(labels, kGpuPresent);
  const bool has_gpu = HasGpu(labels);
  if (has_gpu && present != "true") changes.emplace(kGpuPresent, "true");
  if (!has_gpu && present == "true") changes.emplace(kGpuPresent, "false");
  if (!has_gpu || ValueOf(labels, kDeployOperands) == "false") {
    RemoveAll(labels, changes);
    return changes;
  }
  for (const std::string_view key : kOtherKeys) Remove(labels, key, changes);
  for (const std::string_view key : kContainerKeys) {
    SetWhereMissing(labels, DeployLabel(key), "true", changes);
  }
  if (IsMigCapable(labels)) {
    SetWhereMissing(labels, DeployLabel(kMigManagerKey), "true", changes);
    if (policy.mig_manager_enabled && policy.mig_default_config == "all-disabled") {
      SetWhereMissing(labels, std::string(kMigConfig), "all-disabled", changes);
    }
  }
  return changes;
}

kube::Labels WithChanges(kube::Labels labels, const LabelChanges& changes) {
  for (const auto& [key, value] : changes) {
    if (value) {
      labels[key] = *value;
    } else {
      labels.erase(key);
    }
  }
  return labels;
}

}  // namespace pawl::op
