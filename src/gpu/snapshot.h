// Reads a Snapshot from NVML, one GPU at a time, so that whoever watches knows which GPU a hang
// belongs to. These functions block for as long as NVML does: only the worker process calls them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/model.h"
#include "gpu/nvml.h"

namespace pawl::gpu {

struct SystemVersions {
  std::string driver_version;
  int cuda_version = 0;  // 0: this driver does not say
  uint32_t gpu_count = 0;
};
NvmlResult<SystemVersions> ReadSystem(const Nvml& nvml);

// Everything about the GPU of one index. `root` is the host's root, for sysfs (NUMA node). What a
// GPU does not support is absent in the answer; only its handle, UUID, name, PCI address and minor
// number must be readable. Nothing for a board named "DGX Display", which is no GPU for work
// (spec/device-plugin.md §5).
NvmlResult<std::optional<Gpu>> ReadGpu(const Nvml& nvml, uint32_t index, const std::string& root);

// What may change in a GPU's life without its identity changing; also the health probe: a call that
// reaches the GPU (spec/device-plugin.md §10). Asks only for what `known` says this GPU has.
struct GpuProbe {
  std::optional<bool> mig_enabled;
  std::optional<FabricInfo> fabric;
};
NvmlResult<GpuProbe> ProbeGpu(const Nvml& nvml, uint32_t index, bool has_mig, bool has_fabric);

// The connections of the GPU `indexes[position]` with those after it, as positions in `indexes`. A
// pair that cannot be read is left out.
std::vector<Link> ReadLinks(const Nvml& nvml, const std::vector<uint32_t>& indexes,
                            uint32_t position);

// All of it in one go. `on_gpu` is told the index before the first call that touches that GPU. An
// error only when nothing could be read at all; one GPU that fails is in Snapshot::silent.
Result<Snapshot> TakeSnapshot(const Nvml& nvml, const std::string& root,
                              const std::function<void(uint32_t)>& on_gpu);

// The connections of `gpus` with each other, as `known` has them; for when they cannot be read.
std::vector<Link> LinksAmong(const std::vector<Gpu>& gpus, const Snapshot& known);

// What is known of the node after a new reading. A GPU of `known` that the reading lacks stays,
// with its problem, or with "GpuLost: …" when it had none; a GPU that is back loses its problem.
// Links are taken from the reading, and for the GPUs that it lacks from `known`.
Snapshot Merge(const Snapshot& known, Snapshot fresh);

}  // namespace pawl::gpu
