// Kubeconfig files, spec/kubernetes-client.md §1.
#include <openssl/evp.h>

#include <map>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"
#include "kube/config.h"

namespace pawl::kube {
namespace {

constexpr size_t kLargestFile = size_t{1} << 20;

struct Entry {
  std::string file;  // that it stands in
  json::value value;
};
using Entries = std::map<std::string, Entry>;

struct Merged {
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

// Adds one file's entries; those of earlier files stay as they are.
Status MergeList(const json::value& document, const std::string& file, std::string_view list,
                 std::string_view member, Entries& into) {
  const json::value* entries = Find(document, list);
  if (entries == nullptr || entries->is_null()) return {};
  const std::string where = file + ": " + std::string(list);
  if (!entries->is_array()) return Fail(ErrorKind::kInvalid, where + ": expected a list");
  std::map<std::string, bool> here;
  for (const json::value& entry : entries->get_array()) {
    const std::string name = TextAt(entry, {"name"});
    if (!here.emplace(name, true).second) {
      return Fail(ErrorKind::kInvalid, where + ": the name '" + name + "' stands twice");
    }
    const json::value* value = Find(entry, member);
    into.emplace(name, Entry{file, value == nullptr ? json::value(json::object()) : *value});
  }
  return {};
}

Status MergeFile(const std::string& file, Merged& merged) {
  const Result<std::string> text = ReadFile(file, kLargestFile);
  if (!text) return Fail(text.error().With("reading the kubeconfig"));
  const Result<json::value> document = ParseYaml(*text);
  if (!document) return Fail(document.error().With("kubeconfig " + file));
  if (merged.current_context.empty())
    merged.current_context = TextAt(*document, {"current-context"});
  if (Status s = MergeList(*document, file, "clusters", "cluster", merged.clusters); !s) return s;
  if (Status s = MergeList(*document, file, "users", "user", merged.users); !s) return s;
  return MergeList(*document, file, "contexts", "context", merged.contexts);
}

Result<std::string> DecodeBase64(std::string_view text) {
  std::string packed;
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != ' ') packed += c;
  }
  size_t padding = 0;
  while (padding < 2 && packed.size() > padding && packed[packed.size() - 1 - padding] == '=') {
    ++padding;
  }
  std::string out(packed.size() / 4 * 3 + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(packed.data()),
                                   static_cast<int>(packed.size()));
  if (size < 0 || packed.size() % 4 != 0) return Fail(ErrorKind::kInvalid, "expected base64");
  out.resize(static_cast<size_t>(size) - std::min(padding, static_cast<size_t>(size)));
  return out;
}

// Reads fields of one entry; relative paths are below the folder of its file.
class Fields {
 public:
  Fields(const Entry& entry, std::string where) : entry_(entry), where_(std::move(where)) {}

  std::string Text(std::string_view key) const { return TextAt(entry_.value, {key}); }
  bool Has(std::string_view key) const {
    const json::value* value = Find(entry_.value, key);
    return value != nullptr && !value->is_null() && (!value->is_string() || !Text(key).empty());
  }
  bool Flag(std::string_view key) const {
    const json::value* value = Find(entry_.value, key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  std::string PathOf(std::string_view key) const {
    const std::string path = Text(key);
    const size_t slash = entry_.file.rfind('/');
    if (path.empty() || path.starts_with('/') || slash == std::string::npos) return path;
    return entry_.file.substr(0, slash + 1) + path;
  }
  // `key` is a file, `key`-data its content in base64; not both.
  Result<std::string> Content(const std::string& key) const {
    const std::string data_key = key + "-data";
    if (Has(key) && Has(data_key)) return Bad(key + " and " + data_key + " contradict each other");
    if (Has(data_key)) {
      Result<std::string> data = DecodeBase64(Text(data_key));
      if (!data) return Fail(data.error().With(where_ + ": " + data_key));
      return data;
    }
    if (!Has(key)) return std::string();
    Result<std::string> content = ReadFile(PathOf(key), kLargestFile);
    if (!content) return Fail(content.error().With(where_ + ": " + key));
    return content;
  }
  tl::unexpected<Error> Bad(const std::string& why) const {
    return Fail(ErrorKind::kInvalid, where_ + ": " + why);
  }
  tl::unexpected<Error> Unsupported(const std::string& what) const {
    return Fail(ErrorKind::kUnsupported, where_ + ": " + what + " is not supported");
  }

 private:
  const Entry& entry_;
  std::string where_;
};

Status ReadCluster(const Fields& fields, ClientConfig& config) {
  config.server = fields.Text("server");
  if (config.server.empty()) return fields.Bad("server: expected an address");
  if (Result<ServerAddress> address = ParseServer(config.server); !address) {
    return Fail(address.error());
  }
  Result<std::string> ca = fields.Content("certificate-authority");
  if (!ca) return Fail(ca.error());
  config.ca_pem = std::move(*ca);
  config.insecure = fields.Flag("insecure-skip-tls-verify");
  if (config.insecure && !config.ca_pem.empty()) {
    return fields.Bad("insecure-skip-tls-verify and certificate-authority contradict each other");
  }
  config.tls_server_name = fields.Text("tls-server-name");
  if (fields.Has("proxy-url")) return fields.Unsupported("proxy-url");
  return {};
}

Status ReadUser(const Fields& fields, ClientConfig& config) {
  Result<std::string> certificate = fields.Content("client-certificate");
  if (!certificate) return Fail(certificate.error());
  Result<std::string> key = fields.Content("client-key");
  if (!key) return Fail(key.error());
  if (certificate->empty() != key->empty()) {
    return fields.Bad("client-certificate and client-key: expected both or none");
  }
  config.client_certificate_pem = std::move(*certificate);
  config.client_key_pem = std::move(*key);
  config.token = fields.Text("token");
  config.token_file = fields.PathOf("tokenFile");
  config.username = fields.Text("username");
  config.password = fields.Text("password");
  const bool has_token = !config.token.empty() || !config.token_file.empty();
  if (has_token && !config.username.empty()) {
    return fields.Bad("token and username contradict each other");
  }
  const bool has_credentials =
      has_token || !config.username.empty() || !config.client_certificate_pem.empty();
  if (fields.Has("exec") && fields.Has("auth-provider")) {
    return fields.Bad("exec and auth-provider contradict each other");
  }
  if (fields.Has("exec") && !has_credentials) return fields.Unsupported("exec");
  if (fields.Has("auth-provider") && !has_credentials) return fields.Unsupported("auth-provider");
  for (const std::string_view key_name : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (fields.Has(key_name)) return fields.Unsupported(std::string(key_name));
  }
  return {};
}

}  // namespace

Result<ClientConfig> LoadKubeconfig(const std::vector<std::string>& files) {
  Merged merged;
  for (const std::string& file : files) {
    if (Status added = MergeFile(file, merged); !added) return Fail(added.error());
  }
  const std::string where = "kubeconfig " + Join(files, ":");
  if (merged.current_context.empty()) {
    return Fail(ErrorKind::kInvalid, where + ": current-context is not set");
  }
  const auto context = merged.contexts.find(merged.current_context);
  if (context == merged.contexts.end()) {
    return Fail(ErrorKind::kInvalid,
                where + ": there is no context '" + merged.current_context + "'");
  }
  const std::string cluster_name = TextAt(context->second.value, {"cluster"});
  const std::string user_name = TextAt(context->second.value, {"user"});
  ClientConfig config;
  const std::string ns = TextAt(context->second.value, {"namespace"});
  if (!ns.empty()) config.ns = ns;
  const auto cluster = merged.clusters.find(cluster_name);
  if (cluster == merged.clusters.end()) {
    return Fail(ErrorKind::kInvalid, where + ": there is no cluster '" + cluster_name + "'");
  }
  const Fields cluster_fields(cluster->second,
                              cluster->second.file + ": cluster '" + cluster_name + "'");
  if (Status read = ReadCluster(cluster_fields, config); !read) return Fail(read.error());
  if (user_name.empty()) return config;
  const auto user = merged.users.find(user_name);
  if (user == merged.users.end()) {
    return Fail(ErrorKind::kInvalid, where + ": there is no user '" + user_name + "'");
  }
  const Fields user_fields(user->second, user->second.file + ": user '" + user_name + "'");
  if (Status read = ReadUser(user_fields, config); !read) return Fail(read.error());
  return config;
}

}  // namespace pawl::kube
