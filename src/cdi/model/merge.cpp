#include "cdi/model/merge.h"

#include <algorithm>

namespace pawl::cdi {
namespace {

template <typename T>
bool Has(const std::vector<T>& elements, const T& element) {
  return std::find(elements.begin(), elements.end(), element) != elements.end();
}

template <typename T>
void MergeList(std::vector<T>& into, const std::vector<T>& from) {
  for (const T& element : from) {
    if (!Has(into, element)) into.push_back(element);
  }
}

template <typename T>
void Subtract(std::vector<T>& from, const std::vector<T>& what) {
  std::erase_if(from, [&](const T& element) { return Has(what, element); });
}

Edits Without(Edits edits, const Edits& common) {
  Subtract(edits.env, common.env);
  Subtract(edits.device_nodes, common.device_nodes);
  Subtract(edits.net_devices, common.net_devices);
  Subtract(edits.hooks, common.hooks);
  Subtract(edits.mounts, common.mounts);
  Subtract(edits.additional_gids, common.additional_gids);
  return edits;
}

// Parents before children, then by name.
bool PathBefore(const std::string& a, const std::string& b) {
  const auto depth_a = std::count(a.begin(), a.end(), '/');
  const auto depth_b = std::count(b.begin(), b.end(), '/');
  return depth_a != depth_b ? depth_a < depth_b : a < b;
}

void Tidy(Edits& edits) {
  Edits unique;
  Merge(unique, edits);
  std::stable_sort(
      unique.device_nodes.begin(), unique.device_nodes.end(),
      [](const DeviceNode& a, const DeviceNode& b) { return PathBefore(a.path, b.path); });
  std::stable_sort(unique.mounts.begin(), unique.mounts.end(), [](const Mount& a, const Mount& b) {
    return PathBefore(a.container_path, b.container_path);
  });
  edits = std::move(unique);
}

void TidyDevices(Spec& spec) {
  for (Device& device : spec.devices) {
    Tidy(device.edits);
    Edits rest = Without(device.edits, spec.edits);
    if (!rest.empty()) device.edits = std::move(rest);
  }
  std::stable_sort(spec.devices.begin(), spec.devices.end(),
                   [](const Device& a, const Device& b) { return a.name < b.name; });
}

}  // namespace

void Merge(Edits& into, const Edits& from) {
  MergeList(into.env, from.env);
  MergeList(into.device_nodes, from.device_nodes);
  MergeList(into.net_devices, from.net_devices);
  MergeList(into.hooks, from.hooks);
  MergeList(into.mounts, from.mounts);
  if (!into.intel_rdt) into.intel_rdt = from.intel_rdt;
  MergeList(into.additional_gids, from.additional_gids);
}

void Finish(Spec& spec, bool all_device) {
  constexpr std::string_view kAll = "all";
  Tidy(spec.edits);
  TidyDevices(spec);
  const bool present = std::any_of(spec.devices.begin(), spec.devices.end(),
                                   [&](const Device& device) { return device.name == kAll; });
  if (!all_device || present || spec.devices.empty()) return;
  Device all{std::string(kAll), {}, {}};
  for (const Device& device : spec.devices) Merge(all.edits, device.edits);
  spec.devices.push_back(std::move(all));
  TidyDevices(spec);
}

}  // namespace pawl::cdi
