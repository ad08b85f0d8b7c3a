// What is to be done so that the cluster becomes what its ClusterPolicy asks for. Pure: the same
// view gives the same actions, and a view in which they have been carried out gives none.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/action.h"
#include "operator/view.h"

namespace pawl::op {

// For /metrics: spec/operator.md §12.
struct Summary {
  int64_t gpu_nodes = 0;
  bool has_nfd_labels = false;
  int reconciliation_status = -1;  // 1 ready, 0 not ready, -1 no usable ClusterPolicy
};

struct Decision {
  std::vector<Action> actions;  // labels, objects, then the status; they do not wait for each other
  Summary summary;
};

Decision Decide(const ClusterView& view);

}  // namespace pawl::op
