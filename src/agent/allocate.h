// What a container gets for the devices that kubelet chose (spec/device-plugin.md §8). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/device_plugin.h"

namespace pawl::agent {

// The vendor of the CDI specification that the answers name, and its class.
inline constexpr std::string_view kPluginCdiVendor = "k8s.device-plugin.nvidia.com";
inline constexpr std::string_view kPluginCdiClass = "gpu";

enum class ListStrategy { kEnvvar, kVolumeMounts, kCdiAnnotations, kCdiCri };

// "cdi-annotations, cdi-cri": words at commas, blanks around them do not matter. kInvalid names a
// word that is none; an empty text has one empty word.
Result<std::vector<ListStrategy>> ParseListStrategies(std::string_view text);

enum class IdStrategy { kUuid, kIndex };
Result<IdStrategy> ParseIdStrategy(std::string_view word);  // "uuid", "index"

struct AllocationRules {
  std::vector<ListStrategy> strategies = {ListStrategy::kCdiAnnotations, ListStrategy::kCdiCri};
  IdStrategy id_strategy = IdStrategy::kUuid;
  std::string cdi_annotation_prefix = "cdi.k8s.io/";
  bool pass_device_specs = false;
};

// One device of the resource.
struct AllocatableDevice {
  std::string index;               // "0"
  std::vector<std::string> nodes;  // "/dev/nvidia0"
};

struct AllocatableDevices {
  std::string resource;                            // for the words of a refusal
  std::map<std::string, AllocatableDevice> by_id;  // by the ID that kubelet knows
  std::vector<std::string> control_nodes;          // those that exist: "/dev/nvidiactl"
  std::string dev_root = "/";                      // the host's folder that holds dev/
};

// `ids` as kubelet sent them; `request_uuid` is a new random UUID, part of an annotation's key.
// kInvalid when a device is not in the resource.
Result<node::AllocateAnswer> AnswerAllocate(const AllocationRules& rules,
                                            const AllocatableDevices& devices,
                                            const std::vector<std::string>& ids,
                                            const std::string& request_uuid);

// A random UUID (version 4). Safe on any thread.
std::string NewUuid();

}  // namespace pawl::agent
