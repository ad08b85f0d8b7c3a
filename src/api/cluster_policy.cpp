#include "api/cluster_policy.h"

#include <algorithm>

#include "api/field_reader.h"
#include "base/text.h"

namespace pawl::api {
namespace {

// Components that this version has no program for. Asking for one is worth a warning; switching one
// off is not.
constexpr std::string_view kNotBuilt[] = {"dcgm",
                                          "dcgmExporter",
                                          "nodeStatusExporter",
                                          "gds",
                                          "gdrcopy",
                                          "vgpuManager",
                                          "vgpuDeviceManager",
                                          "vfioManager",
                                          "ccManager",
                                          "sandboxDevicePlugin",
                                          "kataSandboxDevicePlugin",
                                          "kataManager",
                                          "sandboxWorkloads"};

void AddPullSecrets(std::vector<std::string>& secrets, FieldReader& component) {
  for (const std::string& name : component.Texts("imagePullSecrets")) {
    if (std::find(secrets.begin(), secrets.end(), name) == secrets.end()) secrets.push_back(name);
  }
}

void ParseMetadata(const json::value& object, ClusterPolicy& policy) {
  policy.name = TextAt(object, {"metadata", "name"});
  policy.uid = TextAt(object, {"metadata", "uid"});
  policy.creation_timestamp = TextAt(object, {"metadata", "creationTimestamp"});
  if (const json::value* generation = FindPath(object, {"metadata", "generation"})) {
    boost::system::error_code ignored;
    policy.generation = generation->to_number<int64_t>(ignored);
  }
}

void ParseDaemonSets(FieldReader reader, ClusterPolicy::DaemonSets& common, Findings& findings) {
  common.labels = reader.TextMap("labels");
  common.annotations = reader.TextMap("annotations");
  common.pod_security_context = reader.Object("podSecurityContext");
  const std::string priority = reader.Text("priorityClassName");
  if (!priority.empty()) common.priority_class = priority;
  common.on_delete =
      reader.OneOf("updateStrategy", {"RollingUpdate", "OnDelete"}, "RollingUpdate") == "OnDelete";
  FieldReader rolling = reader.In("rollingUpdate");
  if (const std::string text = rolling.Text("maxUnavailable"); !text.empty()) {
    const auto parsed = ParseMaxUnavailable(text);
    if (parsed) {
      common.max_unavailable = *parsed;
    } else {
      findings.errors.push_back("spec.daemonsets.rollingUpdate.maxUnavailable: " +
                                parsed.error().message());
    }
  }
  rolling.ReportUnread();
  // The agent tolerates every taint (spec/readiness-health.md §2), and so any list.
  reader.Known("tolerations");
  reader.ReportUnread();
}

void ParseValidator(FieldReader reader, ClusterPolicy& policy) {
  policy.image = {reader.Text("repository"), reader.Text("image"), reader.Text("version")};
  policy.pull_policy = NormalisePullPolicy(reader.Text("imagePullPolicy"));
  AddPullSecrets(policy.pull_secrets, reader);
  reader.ReportUnread();
}

void ParseDevicePlugin(FieldReader reader, ClusterPolicy& policy) {
  policy.device_plugin_enabled = reader.Bool("enabled").value_or(true);
  policy.resources = reader.Object("resources");
  AddPullSecrets(policy.pull_secrets, reader);
  reader.Known("imagePullPolicy");  // one image, one policy: the validator's
  reader.ReportUnread();
}

void ParseToolkit(FieldReader reader, ClusterPolicy& policy) {
  policy.toolkit_enabled = reader.Bool("enabled").value_or(true);
  const std::string install_dir = reader.Text("installDir");
  if (!install_dir.empty()) policy.install_dir = install_dir;
  AddPullSecrets(policy.pull_secrets, reader);
  reader.Known("imagePullPolicy");
  reader.ReportUnread();
}

void ParseDriver(FieldReader reader, ClusterPolicy& policy, Findings& findings) {
  policy.driver_enabled = reader.Bool("enabled").value_or(true);
  if (policy.driver_enabled) {
    findings.warnings.emplace_back(
        "spec.driver.enabled: this version installs no driver; it uses the one it finds on the "
        "node");
  }
}

// What upstream switches on by default is worth a warning only where it is asked for.
void ParseMigManager(FieldReader reader, ClusterPolicy& policy, Findings& findings) {
  const std::optional<bool> enabled = reader.Bool("enabled");
  policy.mig_manager_enabled = enabled.value_or(true);
  if (enabled.value_or(false)) {
    findings.warnings.emplace_back(
        "spec.migManager.enabled: this version has no such component; nodes get its labels only");
  }
  FieldReader config = reader.In("config");
  if (const auto text = config.OptionalText("default")) policy.mig_default_config = *text;
}

void ParseCdi(FieldReader reader, ClusterPolicy& policy, Findings& findings) {
  policy.cdi_enabled = reader.Bool("enabled").value_or(true);
  policy.nri_enabled = reader.Bool("nriPluginEnabled").value_or(false);
  if (!policy.cdi_enabled) {
    findings.warnings.emplace_back(
        "spec.cdi.enabled: this version always uses CDI; false only takes RuntimeClasses away");
  }
  if (policy.nri_enabled) {
    findings.warnings.emplace_back(
        "spec.cdi.nriPluginEnabled: this version has no such plugin; true only takes the "
        "RuntimeClasses away");
  }
}

void ReportNotBuilt(FieldReader& spec, Findings& findings) {
  for (const std::string_view name : kNotBuilt) {
    FieldReader component = spec.In(name);
    if (component.Bool("enabled").value_or(false)) {
      findings.warnings.push_back("spec." + std::string(name) +
                                  ".enabled: this version has no such component");
    }
  }
}

void ParseSpec(FieldReader spec, ClusterPolicy& policy, Findings& findings) {
  FieldReader owner = spec.In("operator");
  if (const std::string name = owner.Text("runtimeClass"); !name.empty()) {
    policy.runtime_class = name;
  }
  ParseDaemonSets(spec.In("daemonsets"), policy.daemonsets, findings);
  ParseDriver(spec.In("driver"), policy, findings);
  ParseToolkit(spec.In("toolkit"), policy);
  ParseValidator(spec.In("validator"), policy);
  ParseDevicePlugin(spec.In("devicePlugin"), policy);
  FieldReader gfd = spec.In("gfd");
  policy.gfd_enabled = gfd.Bool("enabled").value_or(true);
  AddPullSecrets(policy.pull_secrets, gfd);
  gfd.Known("imagePullPolicy");
  gfd.ReportUnread();
  ParseMigManager(spec.In("migManager"), policy, findings);
  FieldReader mig = spec.In("mig");
  if (const std::string strategy = mig.OneOf("strategy", {"none", "single", "mixed"}, "");
      !strategy.empty()) {
    policy.mig_strategy = strategy;
  }
  ParseCdi(spec.In("cdi"), policy, findings);
  FieldReader paths = spec.In("hostPaths");
  if (const std::string root = paths.Text("rootFS"); !root.empty()) policy.host_root = root;
  if (const std::string folder = paths.Text("driverInstallDir"); !folder.empty()) {
    policy.driver_install_dir = folder;
  }
  paths.ReportUnread({{"kubeletRootDir", "/var/lib/kubelet"}});
  spec.Known("psp");
  ReportNotBuilt(spec, findings);
  spec.ReportUnread();
}

void RequireAbsolute(std::string_view path, std::string_view value, Findings& findings) {
  if (value.starts_with('/')) return;
  findings.errors.push_back(std::string(path) + ": expected an absolute path, found \"" +
                            std::string(value) + "\"");
}

}  // namespace

Result<ClusterPolicy> ParseClusterPolicy(const json::value& object) {
  ClusterPolicy policy;
  Findings findings;
  ParseMetadata(object, policy);
  ParseSpec(FieldReader(Find(object, "spec"), "spec", findings), policy, findings);
  RequireAbsolute("spec.toolkit.installDir", policy.install_dir, findings);
  RequireAbsolute("spec.hostPaths.rootFS", policy.host_root, findings);
  RequireAbsolute("spec.hostPaths.driverInstallDir", policy.driver_install_dir, findings);
  if (!findings.errors.empty()) return Fail(ErrorKind::kInvalid, Join(findings.errors, "; "));
  policy.warnings = std::move(findings.warnings);
  return policy;
}

Status ValidateClusterPolicy(const ClusterPolicy& policy) {
  if (!policy.nri_enabled) return {};
  if (!policy.cdi_enabled) {
    return Fail(ErrorKind::kInvalid, "the NRI Plugin cannot be enabled when CDI is disabled");
  }
  if (!policy.toolkit_enabled) {
    return Fail(ErrorKind::kInvalid,
                "the NRI Plugin cannot be enabled when the Container Toolkit is disabled");
  }
  return {};
}

Result<std::variant<int64_t, std::string>> ParseMaxUnavailable(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = ParseUnsigned(percent ? text.substr(0, text.size() - 1) : text);
  constexpr uint64_t kMost = 1000000;
  if (!number || *number > kMost) {
    return Fail(ErrorKind::kInvalid,
                "expected a number such as 1 or a percentage such as 10%, found \"" +
                    std::string(text) + "\"");
  }
  if (percent) return std::string(text);
  return static_cast<int64_t>(*number);
}

std::string NormalisePullPolicy(std::string_view text) {
  if (text == "Always" || text == "Never") return std::string(text);
  return "IfNotPresent";
}

}  // namespace pawl::api
