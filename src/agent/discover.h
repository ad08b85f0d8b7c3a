// The feature-discovery labels of this machine: collects what agent/decide/labels.h needs beside
// the snapshot (sysfs, the machine type file) and computes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/decide/labels.h"
#include "gpu/model.h"

namespace pawl::agent {

struct DiscoverOptions {
  std::string root = "/";  // the host's
  MigStrategy mig_strategy = MigStrategy::kNone;
  std::optional<int64_t> timestamp;  // Unix seconds
  // Below `root`; empty: the machine is unknown.
  std::string machine_type_file = "/sys/class/dmi/id/product_name";
};

ComputedLabels DiscoverLabels(const gpu::Snapshot& snapshot, const DiscoverOptions& options);

}  // namespace pawl::agent
