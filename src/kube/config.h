// Where the API server is and who we are to it: from a kubeconfig or from the pod's service
// account.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pawl::kube {

// What the edge of the program collected: a flag, environment variables, well-known paths. Empty
// means not given.
struct ConfigSources {
  std::string kubeconfig_flag;  // --kubeconfig: used alone, must exist
  std::string kubeconfig_env;   // KUBECONFIG: a ':' list, merged, missing files skipped
  std::string home;             // HOME: its .kube/config is the last resort
  std::string service_host;     // KUBERNETES_SERVICE_HOST
  std::string service_port;     // KUBERNETES_SERVICE_PORT
  std::string pod_namespace;    // POD_NAMESPACE: our own namespace, before the file's
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Everything one connection needs. Certificates and keys are PEM texts, read once.
struct ClientConfig {
  std::string server;  // "https://10.96.0.1:443/prefix"; http:// has neither TLS nor credentials
  std::string ca_pem;  // empty: the system's roots
  bool insecure = false;
  std::string tls_server_name;  // name to verify and to send as SNI; empty: the server's host
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::string token;
  std::string token_file;  // wins over `token`; read again when 50 s old and after a 401
  std::string username;
  std::string password;
  std::string ns = "default";  // the context's or the pod's own namespace
};

// Looks in the order of spec/kubernetes-client.md §1: the flag; KUBECONFIG; the service account;
// $HOME/.kube/config. kNotFound when there is nothing anywhere, kInvalid with file and field for
// what contradicts itself, kUnsupported for what this client does not do yet: exec and
// auth-provider plug-ins, proxy-url, impersonation.
Result<ClientConfig> LoadConfig(const ConfigSources& sources);

// One merged kubeconfig to the configuration of its current context. `files` are in the order of
// KUBECONFIG; the first that has an entry of a name owns the whole entry.
Result<ClientConfig> LoadKubeconfig(const std::vector<std::string>& files);

// "https", "fd00::1", "443", "/prefix" of a server's address; IPv6 hosts without brackets. Query
// and fragment are dropped.
struct ServerAddress {
  bool tls = true;
  std::string host;
  std::string port;
  std::string prefix;  // empty or "/…" without a slash at the end

  std::string Authority() const;  // for the Host header: "[fd00::1]:443"
};
Result<ServerAddress> ParseServer(std::string_view server);

}  // namespace pawl::kube
