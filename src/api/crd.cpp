#include "api/crd.h"

#include "api/schema.h"

namespace pawl::api {
namespace {

using namespace schema;

// Image, resources, args, env, hostNetwork and a switch: what every operand has.
Schema Operand(const Schema& more) {
  Schema operand = Object({{"enabled", Flag()}});
  for (const Schema& block :
       {Image(), Resources(), Arguments(), Env(), Object({{"hostNetwork", Flag()}}), more}) {
    operand = With(std::move(operand), block);
  }
  return operand;
}

Schema Operand() { return Operand(Object({})); }

Schema Named(std::string_view field) { return Object({{field, Text()}}); }

Schema DriverManager() { return With(Image(), Env()); }

Schema Operator() {
  return Object({{"runtimeClass",
                  Described("Name and handler of the RuntimeClass of GPU pods", Text("nvidia"))},
                 {"defaultRuntime", Text()},
                 {"use_ocp_driver_toolkit", Flag()},
                 {"metrics", Object({{"serviceMonitor", ServiceMonitor()}})},
                 {"labels", TextMap()},
                 {"annotations", TextMap()},
                 {"initContainer", Image()}});
}

Schema DaemonSets() {
  const Schema toleration = Object({{"key", Text()},
                                    {"operator", Text()},
                                    {"value", Text()},
                                    {"effect", Text()},
                                    {"tolerationSeconds", Integer(0)}});
  return Described(
      "What all DaemonSets of the operator have in common",
      Object({{"labels", TextMap()},
              {"annotations", TextMap()},
              {"tolerations", ListOf(toleration)},
              {"priorityClassName", Text()},
              {"podSecurityContext", Anything()},
              {"updateStrategy", OneOf({"RollingUpdate", "OnDelete"}, "RollingUpdate")},
              {"rollingUpdate", Object({{"maxUnavailable", Matching("^[0-9]+%?$")}})}}));
}

Schema UpgradePolicy() {
  Schema most = IntOrText();
  most["default"] = "25%";
  return Object(
      {{"autoUpgrade", Flag(false)},
       {"maxParallelUpgrades", Integer(0, 1)},
       {"maxUnavailable", most},
       {"waitForCompletion", Object({{"podSelector", Text()}, {"timeoutSeconds", Integer(0, 0)}})},
       {"podDeletion", Object({{"force", Flag(false)},
                               {"deleteEmptyDir", Flag(false)},
                               {"timeoutSeconds", Integer(0, 300)}})},
       {"drain", Object({{"enable", Flag(false)},
                         {"force", Flag(false)},
                         {"deleteEmptyDir", Flag(false)},
                         {"podSelector", Text()},
                         {"timeoutSeconds", Integer(0, 300)}})}});
}

Schema Driver() {
  return Described(
      "The driver of the GPUs",
      Operand(Object(
          {{"useNvidiaDriverCRD", Flag()},
           {"usePrecompiled", Flag()},
           {"useOpenKernelModules", Flag()},
           {"kernelModuleType", OneOf({"auto", "open", "proprietary"}, "auto")},
           {"startupProbe", Probe()},
           {"livenessProbe", Probe()},
           {"readinessProbe", Probe()},
           {"rdma", Object({{"enabled", Flag()}, {"useHostMofed", Flag()}})},
           {"upgradePolicy", UpgradePolicy()},
           {"manager", DriverManager()},
           {"repoConfig", Named("configMapName")},
           {"certConfig", Named("name")},
           {"licensingConfig",
            Object({{"secretName", Text()}, {"configMapName", Text()}, {"nlsEnabled", Flag()}})},
           {"virtualTopology", Named("config")},
           {"kernelModuleConfig", Named("name")},
           {"secretEnv", Text()}})));
}

Schema Toolkit() {
  return Described(
      "What gives containers their GPUs on the node",
      Operand(Object({{"installDir", Described("Folder on the node for the runtime programs",
                                               Text("/usr/local/nvidia"))}})));
}

Schema Validator() {
  const Schema env = Env();
  return Described("Image of the agent on GPU nodes; without one the operator's own",
                   With(With(With(With(Image(), Resources()), Arguments()), Env()),
                        Object({{"hostNetwork", Flag()},
                                {"plugin", env},
                                {"toolkit", env},
                                {"driver", env},
                                {"cuda", env},
                                {"vfioPCI", env},
                                {"vgpuManager", env},
                                {"vgpuDevices", env}})));
}

Schema DevicePlugin() {
  return Described("What gives GPUs to kubelet",
                   Operand(Object({{"config", Object({{"name", Text()}, {"default", Text()}})},
                                   {"mps", Object({{"root", Text("/run/nvidia/mps")}})}})));
}

Schema DcgmExporter() {
  return Operand(Object(
      {{"config", Named("name")},
       {"serviceMonitor", ServiceMonitor()},
       {"service", Object({{"type", Text()}, {"internalTrafficPolicy", Text()}})},
       {"annotations", TextMap()},
       {"hostPID", Flag()},
       {"hpcJobMapping",
        Object({{"enabled", Flag()}, {"directory", Text("/var/lib/dcgm-exporter/job-mapping")}})},
       {"enablePodLabels", Flag()},
       {"enablePodUID", Flag()},
       {"podLabelAllowlistRegex", ListOf(Text())}}));
}

Schema MigManager() {
  return Operand(Object(
      {{"config",
        Object({{"name", Text()}, {"default", OneOf({"all-disabled", ""}, "all-disabled")}})},
       {"gpuClientsConfig", Named("name")}}));
}

Schema KataManager() {
  const Schema artifacts = Object({{"url", Text()}, {"pullSecret", Text()}}, {"url"});
  const Schema runtime_class =
      Object({{"name", Text()}, {"nodeSelector", TextMap()}, {"artifacts", artifacts}},
             {"name", "artifacts"});
  return Operand(
      Object({{"config",
               Object({{"artifactsDir", Text("/opt/nvidia-gpu-operator/artifacts/runtimeclasses")},
                       {"runtimeClasses", ListOf(runtime_class)}})}}));
}

// For virtual machines.
Schema SandboxFields() {
  return Object(
      {{"sandboxWorkloads",
        Object({{"enabled", Flag()},
                {"defaultWorkload", OneOf({"container", "vm-passthrough", "vm-vgpu"}, "container")},
                {"mode", OneOf({"kubevirt", "kata"}, "kubevirt")}})},
       {"vgpuManager", Operand(Object({{"driverManager", DriverManager()},
                                       {"kernelModuleConfig", Named("name")}}))},
       {"vgpuDeviceManager",
        Operand(Object({{"config", Object({{"name", Text()}, {"default", Text("default")}})}}))},
       {"vfioManager", Operand(Object({{"driverManager", DriverManager()}}))},
       {"sandboxDevicePlugin", Operand()},
       {"kataSandboxDevicePlugin", Operand()},
       {"ccManager", Operand(Object({{"defaultMode", OneOf({"on", "off", "devtools"})}}))},
       {"kataManager", KataManager()}});
}

Schema Cdi() {
  return Ruled(Described("How devices reach containers: the Container Device Interface",
                         Object({{"enabled", Flag(true)},
                                 {"default", Flag(false)},
                                 {"nriPluginEnabled", Flag(false)}})),
               "!self.nriPluginEnabled || self.enabled",
               "the NRI Plugin cannot be enabled when CDI is disabled");
}

Schema Spec() {
  Schema gds = Object({{"enabled", Flag()}});
  for (const Schema& block : {Image(), Arguments(), Env()}) gds = With(std::move(gds), block);
  Schema spec =
      Object({{"operator", Operator()},
              {"daemonsets", DaemonSets()},
              {"driver", Driver()},
              {"toolkit", Toolkit()},
              {"validator", Validator()},
              {"devicePlugin", DevicePlugin()},
              {"gfd", Described("Labels that say which GPUs a node has", Operand())},
              {"dcgm", Operand(Object({{"hostPort", Integer(0)}}))},
              {"dcgmExporter", DcgmExporter()},
              {"migManager", MigManager()},
              {"nodeStatusExporter", Operand()},
              {"gds", gds},
              {"gdrcopy", gds},
              {"mig", Described("How GPUs that are divided are shown",
                                Object({{"strategy", OneOf({"none", "single", "mixed"})}}))},
              {"cdi", Cdi()},
              {"hostPaths", Object({{"rootFS", Text()},
                                    {"driverInstallDir", Text()},
                                    {"kubeletRootDir", Text("/var/lib/kubelet")}})},
              {"psa", Object({{"enabled", Flag()}})},
              {"psp", Object({{"enabled", Flag()}})}},
             {"operator", "daemonsets", "driver", "toolkit", "devicePlugin", "dcgmExporter", "dcgm",
              "nodeStatusExporter", "gfd"});
  spec = With(std::move(spec), SandboxFields());
  return Ruled(std::move(spec),
               "!has(self.cdi) || !self.cdi.nriPluginEnabled || !has(self.toolkit.enabled) || "
               "self.toolkit.enabled",
               "the NRI Plugin cannot be enabled when the Container Toolkit is disabled");
}

Schema WholeObject() {
  return Object({{"apiVersion", Text()},
                 {"kind", Text()},
                 {"metadata",
                  [] {
                    Schema metadata;
                    metadata["type"] = "object";
                    return metadata;
                  }()},
                 {"spec", Spec()},
                 {"status", Object({{"state", OneOf({"ignored", "ready", "notReady"})},
                                    {"namespace", Text()},
                                    {"conditions", Conditions()}},
                                   {"state"})}});
}

json::object Column(std::string_view name, std::string_view path) {
  json::object column;
  column["name"] = name;
  column["type"] = "string";
  column["jsonPath"] = path;
  return column;
}

}  // namespace

json::object ClusterPolicyCrd() {
  json::object version = {{"name", "v1"}, {"served", true}, {"storage", true}};
  version["additionalPrinterColumns"] =
      json::array{Column("Status", ".status.state"), Column("Age", ".metadata.creationTimestamp")};
  version["subresources"] = json::object{{"status", json::object()}};
  version["schema"] = json::object{
      {"openAPIV3Schema", Described("What this cluster's GPU stack is to be like", WholeObject())}};

  json::object names = {{"kind", "ClusterPolicy"},
                        {"listKind", "ClusterPolicyList"},
                        {"plural", "clusterpolicies"},
                        {"singular", "clusterpolicy"}};
  json::object spec = {{"group", "nvidia.com"}, {"scope", "Cluster"}};
  spec["names"] = std::move(names);
  spec["versions"] = json::array{version};

  json::object crd = {{"apiVersion", "apiextensions.k8s.io/v1"},
                      {"kind", "CustomResourceDefinition"}};
  crd["metadata"] = json::object{{"name", "clusterpolicies.nvidia.com"}};
  crd["spec"] = std::move(spec);
  return crd;
}

}  // namespace pawl::api
