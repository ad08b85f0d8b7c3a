#include "kube/config.h"

#include <set>

#include "base/files.h"
#include "base/text.h"

namespace pawl::kube {
namespace {

constexpr size_t kLargestFile = size_t{1} << 20;

Result<ClientConfig> InCluster(const ConfigSources& sources) {
  ServerAddress address;
  address.host = sources.service_host;
  address.port = sources.service_port;
  ClientConfig config;
  config.server = "https://" + address.Authority();
  config.token_file = sources.service_account_dir + "/token";
  if (!Exists(config.token_file)) {
    return Fail(ErrorKind::kNotFound, config.token_file + ": the pod has no service account token");
  }
  Result<std::string> ca = ReadFile(sources.service_account_dir + "/ca.crt", kLargestFile);
  if (!ca) return Fail(ca.error().With("reading the cluster's certificate authority"));
  config.ca_pem = std::move(*ca);
  config.ns = sources.pod_namespace;
  if (config.ns.empty()) {
    const Result<std::string> own = ReadFile(sources.service_account_dir + "/namespace");
    if (own) config.ns = std::string(Trim(*own));
  }
  if (config.ns.empty()) config.ns = "default";
  return config;
}

// Files of a ':' list that exist, each once.
std::vector<std::string> ExistingFiles(std::string_view list) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (std::string& file : Split(list, ':')) {
    if (file.empty() || !seen.insert(file).second || !Exists(file)) continue;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

std::string ServerAddress::Authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + port;
}

Result<ServerAddress> ParseServer(std::string_view server) {
  const auto bad = [&](std::string_view why) {
    return Fail(ErrorKind::kInvalid, "server '" + std::string(server) + "': " + std::string(why));
  };
  ServerAddress address;
  std::string_view rest = server;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    address.tls = false;
  } else if (rest.find("://") != std::string_view::npos) {
    return bad("expected http:// or https://");
  } else {
    address.tls = false;  // as client-go: a bare host is plain HTTP
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    std::string_view prefix = rest.substr(slash);
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    address.prefix = std::string(prefix);
    rest = rest.substr(0, slash);
  }
  if (rest.find('@') != std::string_view::npos) return bad("credentials in the address");
  address.port = address.tls ? "443" : "80";
  size_t colon = rest.rfind(':');
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad("'[' without ']'");
    address.host = std::string(rest.substr(1, close - 1));
    colon = close + 1 < rest.size() ? close + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && rest[colon] != ':')
      return bad("expected ':' and a port");
  } else {
    address.host = std::string(rest.substr(0, colon));
  }
  if (colon != std::string_view::npos) {
    address.port = std::string(rest.substr(colon + 1));
    const std::optional<uint64_t> number = ParseUnsigned(address.port);
    constexpr uint64_t kLastPort = 65535;
    if (!number || *number == 0 || *number > kLastPort) return bad("expected a port of 1 to 65535");
  }
  if (address.host.empty()) return bad("expected a host");
  return address;
}

Result<ClientConfig> LoadConfig(const ConfigSources& sources) {
  if (!sources.kubeconfig_flag.empty()) return LoadKubeconfig({sources.kubeconfig_flag});
  if (!sources.kubeconfig_env.empty()) {
    const std::vector<std::string> files = ExistingFiles(sources.kubeconfig_env);
    if (!files.empty()) return LoadKubeconfig(files);
    return Fail(ErrorKind::kNotFound, "KUBECONFIG=" + sources.kubeconfig_env + ": no such file");
  }
  if (!sources.service_host.empty() && !sources.service_port.empty()) return InCluster(sources);
  const std::string own = sources.home + "/.kube/config";
  if (!sources.home.empty() && Exists(own)) return LoadKubeconfig({own});
  return Fail(ErrorKind::kNotFound,
              "no Kubernetes configuration: looked for --kubeconfig, KUBECONFIG, a service account "
              "(KUBERNETES_SERVICE_HOST) and ~/.kube/config");
}

}  // namespace pawl::kube
