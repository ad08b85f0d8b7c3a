#include "kube/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/credentials.h"
#include "kube/test_files.h"

namespace pawl::kube {
namespace {

using ::testing::HasSubstr;
using testing::TestFolder;

std::string Kubeconfig(const std::string& cluster, const std::string& user) {
  return "current-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u, namespace: "
         "n}\n"
         "clusters:\n- name: k\n  cluster: " +
         cluster + "\nusers:\n- name: u\n  user: " + user + "\n";
}

Result<ClientConfig> LoadText(const TestFolder& folder, const std::string& cluster,
                              const std::string& user) {
  return LoadKubeconfig({folder.Write("config", Kubeconfig(cluster, user))});
}

TEST(ServerAddress, IsReadFromAUrl) {
  const std::tuple<const char*, bool, const char*, const char*, const char*> rows[] = {
      {"https://a", true, "a", "443", ""},
      {"https://a:6443/", true, "a", "6443", ""},
      {"http://10.0.0.1/p/q/?x#y", false, "10.0.0.1", "80", "/p/q"},
      {"https://[fd00::1]:443", true, "fd00::1", "443", ""},
      {"https://[fd00::1]", true, "fd00::1", "443", ""},
      {"a:8080", false, "a", "8080", ""},
  };
  for (const auto& [text, tls, host, port, prefix] : rows) {
    const Result<ServerAddress> address = ParseServer(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->tls, tls) << text;
    EXPECT_EQ(address->host, host) << text;
    EXPECT_EQ(address->port, port) << text;
    EXPECT_EQ(address->prefix, prefix) << text;
  }
  for (const char* text : {"", "https://", "ftp://a", "https://a:0", "https://a:99999",
                           "https://[a", "https://u:p@a"}) {
    EXPECT_FALSE(ParseServer(text)) << text;
  }
}

TEST(Kubeconfig, GivesWhatTheCurrentContextNames) {
  const TestFolder folder;
  folder.Write("ca.pem", "CA");
  const auto config =
      LoadText(folder, "{server: 'https://h:1', certificate-authority: ca.pem, tls-server-name: s}",
               "{client-certificate-data: Q0VSVA==, client-key-data: S0VZ, token: t}");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->server, "https://h:1");
  EXPECT_EQ(config->ca_pem, "CA");
  EXPECT_EQ(config->tls_server_name, "s");
  EXPECT_EQ(config->client_certificate_pem, "CERT");
  EXPECT_EQ(config->client_key_pem, "KEY");
  EXPECT_EQ(config->token, "t");
  EXPECT_EQ(config->ns, "n");
}

TEST(Kubeconfig, ResolvesPathsAgainstItsOwnFolder) {
  const TestFolder folder;
  const auto config = LoadText(folder, "{server: 'https://h'}", "{tokenFile: sub/token}");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->token_file, folder.path() + "/sub/token");
}

TEST(Kubeconfig, IsMergedByWholeEntriesFirstFileFirst) {
  const TestFolder folder;
  const std::string a = folder.Write(
      "A",
      "users: [{name: red, user: {token: t1}}]\nclusters: [{name: cow, cluster: {server: "
      "'http://a'}}]\n");
  const std::string b = folder.Write(
      "B",
      "users: [{name: red, user: {token: t2}}, {name: yellow, user: {token: y}}]\n"
      "clusters: [{name: cow, cluster: {server: 'http://b', insecure-skip-tls-verify: true}}]\n"
      "contexts: [{name: fc, context: {cluster: cow, user: red}}]\ncurrent-context: fc\n");
  const auto config = LoadKubeconfig({a, b});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->server, "http://a");
  EXPECT_FALSE(config->insecure);
  EXPECT_EQ(config->token, "t1");
  EXPECT_EQ(config->ns, "default");
}

TEST(Kubeconfig, RefusesContradictions) {
  const TestFolder folder;
  const std::string server = "{server: 'https://h'}";
  const std::tuple<std::string, std::string, const char*> rows[] = {
      {"{}", "{}", "server"},
      {"{server: 'https://h', certificate-authority-data: Q0E=, insecure-skip-tls-verify: true}",
       "{}", "contradict"},
      {"{server: 'https://h', certificate-authority: x, certificate-authority-data: Q0E=}", "{}",
       "contradict"},
      {"{server: 'https://h', certificate-authority: missing}", "{}", "missing"},
      {server, "{client-certificate-data: Q0VSVA==}", "both or none"},
      {server, "{token: t, username: u, password: p}", "contradict"},
      {server, "{client-certificate-data: '!', client-key-data: S0VZ}", "base64"},
      {server, "{exec: {command: a}, auth-provider: {name: b}}", "contradict"},
  };
  for (const auto& [cluster, user, words] : rows) {
    const auto config = LoadText(folder, cluster, user);
    ASSERT_FALSE(config) << cluster << user;
    EXPECT_NE(config.error().kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(config.error().message(), HasSubstr(words));
  }
}

TEST(Kubeconfig, SaysWhatIsNotSupported) {
  const TestFolder folder;
  const std::string server = "{server: 'https://h'}";
  const std::tuple<std::string, std::string, const char*> rows[] = {
      {server, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: p}}", "exec"},
      {server, "{auth-provider: {name: gcp}}", "auth-provider"},
      {server, "{token: t, as: someone}", "as is not"},
      {"{server: 'https://h', proxy-url: 'http://p'}", "{}", "proxy-url"},
  };
  for (const auto& [cluster, user, words] : rows) {
    const auto config = LoadText(folder, cluster, user);
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(config.error().message(), HasSubstr(words));
  }
  EXPECT_TRUE(LoadText(folder, server, "{token: t, exec: {command: p}}"));
}

TEST(Kubeconfig, RefusesANameThatStandsTwice) {
  const TestFolder folder;
  const std::string file =
      folder.Write("config", "users: [{name: a, user: {}}, {name: a, user: {}}]\n");
  const auto config = LoadKubeconfig({file});
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(), HasSubstr("'a' stands twice"));
}

TEST(Config, LooksInOrder) {
  const TestFolder folder;
  const std::string ok = folder.Write("ok", Kubeconfig("{server: 'https://listed'}", "{token: t}"));
  ConfigSources sources;
  EXPECT_EQ(LoadConfig(sources).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(MakeFolders(folder.path() + "/.kube"));
  folder.Write(".kube/config", Kubeconfig("{server: 'https://home'}", "{token: t}"));
  sources.home = folder.path();
  EXPECT_EQ(LoadConfig(sources)->server, "https://home");
  folder.Write("token", "secret\n");
  folder.Write("ca.crt", "CA");
  folder.Write("namespace", "gpu-operator\n");
  sources.service_account_dir = folder.path();
  sources.service_host = "fd00::1";
  sources.service_port = "443";
  const auto in_cluster = LoadConfig(sources);
  ASSERT_TRUE(in_cluster);
  EXPECT_EQ(in_cluster->server, "https://[fd00::1]:443");
  EXPECT_EQ(in_cluster->ns, "gpu-operator");
  EXPECT_EQ(in_cluster->ca_pem, "CA");
  sources.kubeconfig_env = "/missing:" + ok + "::" + ok;
  EXPECT_EQ(LoadConfig(sources)->server, "https://listed");
  sources.kubeconfig_flag = "/missing";
  EXPECT_FALSE(LoadConfig(sources));
}

TEST(Credentials, ReadTheTokenAgainWhenItIs50SecondsOld) {
  const TestFolder folder;
  ClientConfig config;
  config.token_file = folder.Write("token", "old\n");
  Credentials credentials(config);
  const Time start = Time(1000s);
  EXPECT_EQ(*credentials.Header(start), "Bearer old");
  folder.Write("token", "new\n");
  EXPECT_EQ(*credentials.Header(start + 49s), "Bearer old");
  EXPECT_EQ(*credentials.Header(start + 50s), "Bearer new");
  ASSERT_TRUE(RemoveFile(config.token_file));
  EXPECT_EQ(*credentials.Header(start + 200s), "Bearer new");
}

TEST(Credentials, ReadTheTokenAgainAfterARefusal) {
  const TestFolder folder;
  ClientConfig config;
  config.token_file = folder.Write("token", "old");
  Credentials credentials(config);
  EXPECT_EQ(*credentials.Header(Time(1s)), "Bearer old");
  folder.Write("token", "new");
  EXPECT_TRUE(credentials.Expire());
  EXPECT_EQ(*credentials.Header(Time(2s)), "Bearer new");
}

TEST(Credentials, KnowOtherKinds) {
  ClientConfig basic;
  basic.username = "u";
  basic.password = "p:w";
  EXPECT_EQ(*Credentials(basic).Header(Time()), "Basic dTpwOnc=");
  EXPECT_FALSE(Credentials(basic).Expire());
  EXPECT_EQ(*Credentials(ClientConfig()).Header(Time()), "");
  ClientConfig missing;
  missing.token_file = "/missing";
  EXPECT_EQ(Credentials(missing).Header(Time(1s)).error().kind(), ErrorKind::kPermission);
}

}  // namespace
}  // namespace pawl::kube
