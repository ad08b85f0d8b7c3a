#include "agent/discover.h"

#include "base/files.h"
#include "gpu/pci.h"

namespace pawl::agent {

ComputedLabels DiscoverLabels(const gpu::Snapshot& snapshot, const DiscoverOptions& options) {
  std::vector<std::string> problems;
  LabelInput input;
  input.snapshot = snapshot;
  input.mig_strategy = options.mig_strategy;
  input.timestamp = options.timestamp;
  if (!options.machine_type_file.empty()) {
    Result<std::string> text = ReadFile(Under(options.root, options.machine_type_file));
    if (text) input.machine_type = *std::move(text);
  }
  const Result<std::vector<gpu::PciFunction>> functions = gpu::ScanPci(options.root);
  if (functions) {
    input.gpu_mode = gpu::GpuMode(*functions, snapshot);
    Result<std::optional<gpu::VgpuHost>> vgpu = gpu::DetectVgpu(options.root, *functions);
    if (vgpu) {
      input.vgpu = *std::move(vgpu);
    } else {
      problems.push_back(vgpu.error().message());
    }
  } else {
    problems.push_back(functions.error().message());
  }
  ComputedLabels computed = ComputeLabels(input);
  computed.problems.insert(computed.problems.end(), problems.begin(), problems.end());
  return computed;
}

}  // namespace pawl::agent
