// What /metrics of the operator says: spec/operator.md §12, the gauges and counters of what this
// version does.
#pragma once

#include <cstdint>
#include <string>

#include "operator/decide.h"

namespace pawl::op {

struct Metrics {
  Summary summary;
  uint64_t reconciliations = 0;
  uint64_t failed_reconciliations = 0;  // with a refused action, or not ready
  int64_t last_success = 0;             // Unix seconds; 0: none yet
};

std::string Render(const Metrics& metrics);  // Prometheus text format

}  // namespace pawl::op
