// The custom resource definitions as objects, written to deploy/helm/pawl/crds (spec/api.md §2,
// §3). Pure.
#pragma once

#include "base/json.h"

namespace pawl::api {

json::object ClusterPolicyCrd();

}  // namespace pawl::api
