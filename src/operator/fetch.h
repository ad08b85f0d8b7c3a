// A view of the cluster by plain lists, without watches: for `pawl plan`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"
#include "operator/view.h"

namespace pawl::op {

// `agent_image` empty: the one that the operator's Deployment in `ns` names.
Task<Result<ClusterView>> FetchView(kube::Client& client, std::string ns, std::string agent_image);

}  // namespace pawl::op
