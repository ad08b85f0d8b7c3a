// What kinds of object the API server keeps, and where. A Resource is data: the client knows no
// kind by itself.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace pawl::kube {

// The texts must outlive the Resource: literals, as below.
struct Resource {
  std::string_view group;  // empty for the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;

  std::string ApiVersion() const;  // "v1", "apps/v1"

  // The path below the server's address, each part percent-encoded (spec/kubernetes-client.md §2):
  // "/apis/apps/v1/namespaces/g/daemonsets/d/status". Empty `name`: the collection; empty `ns`: all
  // namespaces, or an object that has none.
  std::string Path(std::string_view ns, std::string_view name = "",
                   std::string_view subresource = "") const;
};

inline constexpr Resource kNodes{"", "v1", "nodes", "Node", false};
inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline constexpr Resource kPods{"", "v1", "pods", "Pod", true};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};
inline constexpr Resource kServices{"", "v1", "services", "Service", true};
inline constexpr Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount", true};
inline constexpr Resource kDaemonSets{"apps", "v1", "daemonsets", "DaemonSet", true};
inline constexpr Resource kDeployments{"apps", "v1", "deployments", "Deployment", true};
inline constexpr Resource kRoles{"rbac.authorization.k8s.io", "v1", "roles", "Role", true};
inline constexpr Resource kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                        "RoleBinding", true};
inline constexpr Resource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles",
                                        "ClusterRole", false};
inline constexpr Resource kClusterRoleBindings{"rbac.authorization.k8s.io", "v1",
                                               "clusterrolebindings", "ClusterRoleBinding", false};
inline constexpr Resource kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass",
                                          false};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline constexpr Resource kEvents{"events.k8s.io", "v1", "events", "Event", true};
inline constexpr Resource kCustomResourceDefinitions{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};

// An object's place within its resource. `ns` is empty for objects that have no namespace.
struct ObjectKey {
  std::string ns;
  std::string name;

  std::string Text() const { return ns.empty() ? name : ns + "/" + name; }
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

// `text` with every byte but A-Z a-z 0-9 - . _ ~ as %XX.
std::string PercentEncode(std::string_view text);

}  // namespace pawl::kube
