// ClusterPolicy, nvidia.com/v1: what a user wants of the GPU stack, in the fields this version does
// something with (spec/api.md §3). Pure.
//
// An object is parsed as it is stored: fields with a wrong type or value are errors that name their
// path, all of them at once; fields that are known to the schema but change nothing here are listed
// in `warnings`, so that no user has to guess.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/image.h"
#include "base/json.h"
#include "base/result.h"

namespace pawl::api {

inline constexpr std::string_view kGroupVersion = "nvidia.com/v1";
inline constexpr std::string_view kClusterPolicyKind = "ClusterPolicy";

struct ClusterPolicy {
  // Metadata.
  std::string name;
  std::string uid;
  std::string creation_timestamp;  // RFC 3339, compares as text
  int64_t generation = 0;

  // operator
  std::string runtime_class = "nvidia";  // RuntimeClass name and handler

  // daemonsets: what all operands have in common.
  struct DaemonSets {
    std::map<std::string, std::string> labels;  // on the object, and on pods except app and part-of
    std::map<std::string, std::string> annotations;
    std::string priority_class = "system-node-critical";
    json::object pod_security_context;                                  // empty: none
    bool on_delete = false;                                             // updateStrategy OnDelete
    std::optional<std::variant<int64_t, std::string>> max_unavailable;  // 1 or "10%"
  } daemonsets;

  // The parts that are switched one by one.
  bool driver_enabled = true;
  bool toolkit_enabled = true;
  bool device_plugin_enabled = true;
  bool gfd_enabled = true;
  bool mig_manager_enabled = true;

  std::string install_dir = "/usr/local/nvidia";  // toolkit.installDir, on the host

  // validator: its image is the operator's own program upstream too, so it names the agent's.
  ImageFields image;
  std::string pull_policy = "IfNotPresent";
  std::vector<std::string>
      pull_secrets;        // validator's, toolkit's, devicePlugin's, gfd's; no name twice
  json::object resources;  // devicePlugin.resources: the agent's container

  std::optional<std::string> mig_strategy;          // none, single, mixed
  std::string mig_default_config = "all-disabled";  // migManager.config.default
  bool cdi_enabled = true;
  bool nri_enabled = false;
  std::string host_root = "/";                            // hostPaths.rootFS
  std::string driver_install_dir = "/run/nvidia/driver";  // hostPaths.driverInstallDir

  std::vector<std::string> warnings;
};

// kInvalid with every finding, joined by "; ".
Result<ClusterPolicy> ParseClusterPolicy(const json::value& object);

// What no schema checks: combinations that cannot work. The text of spec/api.md vectors 20 and 21.
Status ValidateClusterPolicy(const ClusterPolicy& policy);

// "1" or "10%" (spec/api.md vector 22).
Result<std::variant<int64_t, std::string>> ParseMaxUnavailable(std::string_view text);

// Always, Never or IfNotPresent; anything else becomes IfNotPresent (spec/api.md §6.4, vector 35).
std::string NormalisePullPolicy(std::string_view text);

}  // namespace pawl::api
