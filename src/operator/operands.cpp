#include "operator/operands.h"

#include <cstdint>

#include "kube/object.h"
#include "kube/quantity.h"
#include "operator/names.h"

namespace pawl::op {
namespace {

constexpr std::string_view kProgram = "/usr/bin/pawl";
constexpr std::string_view kHostMount = "/host";

json::array Strings(std::initializer_list<std::string_view> texts) {
  json::array out;
  for (const std::string_view text : texts) out.emplace_back(text);
  return out;
}

// apiVersion, kind, name and the policy as owner: when it goes, the object goes.
json::object OwnedObject(const kube::Resource& resource, std::string_view name,
                         const OperandContext& context) {
  json::object object = kube::NewObject(resource, context.ns, name);
  object["metadata"].as_object()["ownerReferences"] =
      json::array{kube::OwnerReference(kClusterPolicies, *context.owner)};
  return object;
}

json::object ToObject(const std::map<std::string, std::string>& texts) {
  json::object out;
  for (const auto& [key, value] : texts) out[key] = value;
  return out;
}

// One folder of the node in the agent.
struct HostMount {
  std::string_view volume;
  std::string host_path;
  std::string mount_path;
  std::string_view type;  // "" takes what is there
  bool read_only = false;
  bool follow = false;  // mounts that the node makes later appear too
};

std::vector<HostMount> HostMounts(const api::ClusterPolicy& policy) {
  return {
      {"host-root", policy.host_root, std::string(kHostMount), "Directory", true, true},
      {"host-dev", "/dev", "/dev", "Directory", false, true},
      {"device-plugin", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/device-plugins",
       "DirectoryOrCreate", false, false},
      {"cdi-root", "/var/run/cdi", "/var/run/cdi", "DirectoryOrCreate", false, false},
      {"run-nvidia", "/run/nvidia", "/run/nvidia", "DirectoryOrCreate", false, true},
      {"toolkit-install-dir", policy.install_dir, policy.install_dir, "DirectoryOrCreate", false,
       false},
  };
}

json::array Volumes(const api::ClusterPolicy& policy) {
  json::array volumes;
  for (const HostMount& mount : HostMounts(policy)) {
    json::object host_path = {{"path", mount.host_path}, {"type", mount.type}};
    json::object volume = {{"name", mount.volume}};
    volume["hostPath"] = std::move(host_path);
    volumes.emplace_back(std::move(volume));
  }
  return volumes;
}

json::array VolumeMounts(const api::ClusterPolicy& policy) {
  json::array mounts;
  for (const HostMount& mount : HostMounts(policy)) {
    json::object one = {{"name", mount.volume}, {"mountPath", mount.mount_path}};
    if (mount.read_only) one["readOnly"] = true;
    if (mount.follow) one["mountPropagation"] = "HostToContainer";
    mounts.emplace_back(std::move(one));
  }
  return mounts;
}

json::array AgentArguments(const api::ClusterPolicy& policy) {
  json::array arguments;
  const auto add = [&arguments](std::string_view flag, std::string_view value) {
    arguments.emplace_back("--" + std::string(flag) + "=" + std::string(value));
  };
  add("node-name", "$(NODE_NAME)");
  add("host-root", kHostMount);
  add("driver-install-dir", policy.driver_install_dir);
  add("kubelet-dir", "/var/lib/kubelet");
  add("cdi-dir", "/var/run/cdi");
  add("run-dir", "/run/nvidia");
  add("install-dir", policy.install_dir);
  if (policy.mig_strategy) add("mig-strategy", *policy.mig_strategy);
  if (!policy.toolkit_enabled) add("toolkit-enabled", "false");
  if (!policy.device_plugin_enabled) add("device-plugin-enabled", "false");
  if (!policy.gfd_enabled) add("gfd-enabled", "false");
  return arguments;
}

json::object FieldEnv(std::string_view name, std::string_view path) {
  json::object env = {{"name", name}};
  json::object field = {{"fieldPath", path}};
  json::object source;
  source["fieldRef"] = std::move(field);
  env["valueFrom"] = std::move(source);
  return env;
}

json::object ReadinessProbe(const api::ClusterPolicy& policy) {
  json::object exec;
  exec["command"] = Strings({kProgram, "validate", "--ready-file=" + ReadyFile(policy)});
  json::object probe = {{"periodSeconds", 5}, {"timeoutSeconds", 5}};
  probe["exec"] = std::move(exec);
  return probe;
}

// Quantities as the API server writes them, so that what we want can be found in what it stores.
json::object CanonicalResources(const json::object& resources) {
  json::object out;
  for (const auto& part : resources) {
    const json::object* quantities = part.value().if_object();
    if (quantities == nullptr || quantities->empty()) continue;
    json::object canonical;
    for (const auto& quantity : *quantities) {
      const json::string* text = quantity.value().if_string();
      const std::string written = text != nullptr ? std::string(*text) : ToJson(quantity.value());
      const Result<kube::Quantity> parsed = kube::Quantity::Parse(written);
      canonical[quantity.key()] = parsed ? parsed->ToString() : written;
    }
    out[part.key()] = std::move(canonical);
  }
  return out;
}

json::object AgentContainer(const api::ClusterPolicy& policy, const std::string& image) {
  json::object container = {
      {"name", kAgentContainer}, {"image", image}, {"imagePullPolicy", policy.pull_policy}};
  container["command"] = Strings({kProgram, "agent"});
  container["args"] = AgentArguments(policy);
  container["env"] = json::array{FieldEnv("NODE_NAME", "spec.nodeName")};
  container["readinessProbe"] = ReadinessProbe(policy);
  container["securityContext"] =
      json::object{{"privileged", true}, {"readOnlyRootFilesystem", true}};
  container["volumeMounts"] = VolumeMounts(policy);
  json::object resources = CanonicalResources(policy.resources);
  if (!resources.empty()) container["resources"] = std::move(resources);
  return container;
}

json::object AgentPodSpec(const api::ClusterPolicy& policy, const std::string& image) {
  json::object spec;
  spec["nodeSelector"] = json::object{{kDeployAgent, "true"}};
  // Every taint, and the host's network: the agent has to run where nothing else may yet, also
  // before the pod network works (spec/readiness-health.md §2).
  spec["tolerations"] = json::array{json::object{{"operator", "Exists"}}};
  spec["hostNetwork"] = true;
  spec["dnsPolicy"] = "ClusterFirstWithHostNet";
  spec["priorityClassName"] = policy.daemonsets.priority_class;
  spec["serviceAccountName"] = kAgentServiceAccount;
  if (!policy.daemonsets.pod_security_context.empty()) {
    spec["securityContext"] = policy.daemonsets.pod_security_context;
  }
  if (!policy.pull_secrets.empty()) {
    json::array secrets;
    for (const std::string& name : policy.pull_secrets) {
      secrets.emplace_back(json::object{{"name", name}});
    }
    spec["imagePullSecrets"] = std::move(secrets);
  }
  spec["containers"] = json::array{AgentContainer(policy, image)};
  spec["volumes"] = Volumes(policy);
  return spec;
}

// Users' labels reach pods too, except those that say whose pods they are (§7).
json::object PodMetadata(const api::ClusterPolicy& policy) {
  json::object labels = {{"app", kAgentName}, {"app.kubernetes.io/part-of", "gpu-operator"}};
  for (const auto& [key, value] : policy.daemonsets.labels) {
    if (!labels.contains(key)) labels[key] = value;
  }
  json::object metadata;
  metadata["labels"] = std::move(labels);
  if (!policy.daemonsets.annotations.empty()) {
    metadata["annotations"] = ToObject(policy.daemonsets.annotations);
  }
  return metadata;
}

json::object UpdateStrategy(const api::ClusterPolicy::DaemonSets& common) {
  json::object strategy;
  if (common.on_delete) {
    strategy["type"] = "OnDelete";
    return strategy;
  }
  strategy["type"] = "RollingUpdate";
  json::object rolling = {{"maxUnavailable", 1}};
  if (common.max_unavailable) {
    if (const auto* number = std::get_if<int64_t>(&*common.max_unavailable)) {
      rolling["maxUnavailable"] = *number;
    } else {
      rolling["maxUnavailable"] = std::get<std::string>(*common.max_unavailable);
    }
  }
  strategy["rollingUpdate"] = std::move(rolling);
  return strategy;
}

}  // namespace

// FNV-1a, 32 bits, over the object's text. The value differs from upstream's, which hashes a dump
// in Go's own notation (spec/operator.md §7).
void Stamp(json::object& wanted) {
  constexpr uint32_t kBasis = 2166136261U;
  constexpr uint32_t kPrime = 16777619U;
  uint32_t hash = kBasis;
  for (const char c : ToJson(wanted)) {
    hash ^= static_cast<unsigned char>(c);
    hash *= kPrime;
  }
  json::object& metadata = wanted["metadata"].as_object();
  if (!metadata.contains("annotations")) metadata["annotations"] = json::object();
  metadata["annotations"].as_object()[kAppliedHash] = std::to_string(hash);
}

bool WantsAgent(const api::ClusterPolicy& policy) {
  return policy.toolkit_enabled || policy.device_plugin_enabled || policy.gfd_enabled;
}

std::string ReadyFile(const api::ClusterPolicy& policy) {
  const std::string folder = "/run/nvidia/validations/";
  if (policy.device_plugin_enabled) return folder + "plugin-ready";
  if (policy.toolkit_enabled) return folder + "toolkit-ready";
  return folder + "driver-ready";
}

Result<json::object> AgentDaemonSet(const api::ClusterPolicy& policy,
                                    const OperandContext& context) {
  const Result<std::string> image =
      api::ResolveImage(policy.image, "VALIDATOR_IMAGE", context.fallback_image);
  if (!image) return Fail(image.error().With("spec.validator"));

  json::object object = OwnedObject(kube::kDaemonSets, kAgentName, context);
  json::object& metadata = object["metadata"].as_object();
  json::object labels = {{"app", kAgentName}, {"app.kubernetes.io/part-of", "gpu-operator"}};
  for (const auto& [key, value] : policy.daemonsets.labels) labels[key] = value;
  metadata["labels"] = std::move(labels);
  if (!policy.daemonsets.annotations.empty()) {
    metadata["annotations"] = ToObject(policy.daemonsets.annotations);
  }

  json::object match_labels = {{"app", kAgentName}};
  json::object selector;
  selector["matchLabels"] = std::move(match_labels);
  json::object pod;
  pod["metadata"] = PodMetadata(policy);
  pod["spec"] = AgentPodSpec(policy, *image);
  json::object spec;
  spec["selector"] = std::move(selector);
  spec["updateStrategy"] = UpdateStrategy(policy.daemonsets);
  spec["template"] = std::move(pod);

  object["spec"] = std::move(spec);
  return object;
}

std::vector<std::string> RuntimeClassNames(const api::ClusterPolicy& policy) {
  if (policy.nri_enabled) return {};
  if (!policy.cdi_enabled) return {policy.runtime_class};
  std::vector<std::string> names = {policy.runtime_class};
  for (const char* name : {"nvidia-cdi", "nvidia-legacy"}) {
    if (name != policy.runtime_class) names.emplace_back(name);
  }
  return names;
}

json::object RuntimeClass(std::string_view name, const OperandContext& context) {
  json::object object = OwnedObject(kube::kRuntimeClasses, name, context);
  object["metadata"].as_object()["labels"] =
      json::object{{"app.kubernetes.io/component", "gpu-operator"}};
  object["handler"] = name;
  return object;
}

}  // namespace pawl::op
