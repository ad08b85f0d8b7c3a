// The feature-discovery labels of a GPU node (spec/feature-discovery.md §3-5, §8). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/model.h"
#include "gpu/pci.h"

namespace pawl::agent {

using Labels = std::map<std::string, std::string>;

enum class MigStrategy { kNone, kSingle, kMixed };
Result<MigStrategy> ParseMigStrategy(std::string_view word);  // "none", "single", "mixed"

// How one resource is shared: an entry of the active sharing list (spec/device-plugin.md §3).
struct ResourceSharing {
  int replicas = 0;      // ≥ 2
  bool renamed = false;  // by renameByDefault: then the product gets no -SHARED
};
enum class SharingStrategy { kNone, kTimeSlicing, kMps };
struct Sharing {
  SharingStrategy strategy = SharingStrategy::kNone;
  std::map<std::string, ResourceSharing> resources;  // by the original resource name
};

struct LabelInput {
  gpu::Snapshot snapshot;
  MigStrategy mig_strategy = MigStrategy::kNone;
  Sharing sharing;
  std::optional<int64_t> timestamp;         // Unix seconds; absent: no timestamp label
  std::optional<std::string> machine_type;  // content of the machine type file; absent: unreadable
  std::string gpu_mode = "unknown";         // gpu::GpuMode
  // Absent: the configuration space of a PCI function was unreadable, so nothing is said of vGPUs.
  std::optional<std::optional<gpu::VgpuHost>> vgpu;
};

// A label that cannot be computed is left out and said in `problems`; the others are there.
struct ComputedLabels {
  Labels labels;
  std::vector<std::string> problems;
};
ComputedLabels ComputeLabels(const LabelInput& input);

// The value rules of §8: foreign characters deleted, spaces to single dashes, at most 63
// characters, a letter or digit at both ends.
std::string SanitizeLabelValue(std::string_view text);

// "hopper" for 9.0; "undefined" for what we do not know (§4).
std::string_view GpuFamily(int compute_major, int compute_minor);

// Lines key=value, sorted: the file of Node Feature Discovery's local source and the output of
// `pawl discover` (§9.1).
std::string LabelFile(const Labels& labels);

}  // namespace pawl::agent
