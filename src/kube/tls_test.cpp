#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "kube/object.h"
#include "kube/test_files.h"
#include "kube/test_server.h"

namespace pawl::kube {
namespace {

using testing::Answer;
using testing::Await;
using ::testing::HasSubstr;
using testing::TestServer;

// A self-signed certificate with its key, as PEM.
struct Identity {
  std::string certificate;
  std::string key;
};

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

Identity NewIdentity(const std::string& names) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  const std::pair<int, std::string> extensions[] = {{NID_basic_constraints, "critical,CA:TRUE"},
                                                    {NID_subject_alt_name, names}};
  for (const auto& [kind, value] : extensions) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate, key, EVP_sha256());
  Identity identity;
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, certificate);
  identity.certificate = Text(out);
  out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  identity.key = Text(out);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return identity;
}

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() : identity_(NewIdentity("IP:127.0.0.1,DNS:kubernetes.default")) {
    config_.ca_pem = identity_.certificate;
  }

  void Serve(const Identity& identity, TestServer::Handler handler) {
    context_.use_certificate_chain(asio::buffer(identity.certificate));
    context_.use_private_key(asio::buffer(identity.key), asio::ssl::context::pem);
    server_.emplace(loop_, std::move(handler), &context_);
    config_.server = server_->Url();
  }
  void Serve() {
    Serve(identity_, [](const TestServer::Request&) { return Answer(200, "{}"); });
  }
  Result<json::value> Get() {
    if (!client_) {
      auto client = Client::Create(loop_.get_executor(), config_, testing::QuickOptions());
      if (!client) return Fail(client.error());
      client_ = std::move(*client);
    }
    return Await(loop_, client_->Get(kNodes, "", "n1"));
  }

  asio::io_context loop_;
  asio::ssl::context context_{asio::ssl::context::tls_server};
  Identity identity_;
  ClientConfig config_;
  std::optional<TestServer> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(TlsTest, TrustsTheGivenAuthorityForAnAddress) {
  Serve();
  const auto got = Get();
  EXPECT_TRUE(got) << got.error().message();
  EXPECT_TRUE(Get());
  EXPECT_EQ(server_->requests().back().connection, 1U);
}

TEST_F(TlsTest, TrustsTheGivenAuthorityForAName) {
  Serve();
  config_.tls_server_name = "kubernetes.default";
  EXPECT_TRUE(Get());
}

TEST_F(TlsTest, RefusesAnotherName) {
  Serve();
  config_.tls_server_name = "evil.example";
  const auto got = Get();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message(), HasSubstr("ostname mismatch"));
}

TEST_F(TlsTest, RefusesAnotherAuthority) {
  const Identity other = NewIdentity("IP:127.0.0.1");
  Serve(other, [](const TestServer::Request&) { return Answer(200, "{}"); });
  const auto got = Get();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message(), HasSubstr("not trusted"));
}

TEST_F(TlsTest, TrustsAnythingWhenTold) {
  Serve();
  config_.ca_pem.clear();
  config_.insecure = true;
  config_.tls_server_name = "evil.example";
  EXPECT_TRUE(Get());
}

TEST_F(TlsTest, RefusesOldProtocols) {
  SSL_CTX_set_max_proto_version(context_.native_handle(), TLS1_1_VERSION);
  Serve();
  EXPECT_FALSE(Get());
}

TEST_F(TlsTest, ShowsItsCertificate) {
  context_.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  const Identity own = NewIdentity("DNS:client");
  context_.add_certificate_authority(asio::buffer(own.certificate));
  Serve();
  config_.client_certificate_pem = own.certificate;
  config_.client_key_pem = own.key;
  const auto got = Get();
  EXPECT_TRUE(got) << got.error().message();
}

TEST_F(TlsTest, RefusesAKeyThatIsNotTheCertificates) {
  Serve();
  config_.client_certificate_pem = identity_.certificate;
  config_.client_key_pem = NewIdentity("DNS:x").key;
  EXPECT_EQ(Get().error().kind(), ErrorKind::kInvalid);
}

TEST_F(TlsTest, ReadsTheTokenAgainAfterA401) {
  const testing::TestFolder folder;
  config_.token_file = folder.Write("token", "old");
  Serve(identity_, [&](const TestServer::Request& request) {
    if (request.Header("Authorization") == "Bearer new") return Answer(200, "{}");
    folder.Write("token", "new");
    return Answer(401, "who?");
  });
  EXPECT_TRUE(Get());
  EXPECT_EQ(server_->requests().size(), 2U);
}

TEST_F(TlsTest, ReportsASecond401) {
  const testing::TestFolder folder;
  config_.token_file = folder.Write("token", "old");
  Serve(identity_, [&](const TestServer::Request&) { return Answer(401, "who?"); });
  EXPECT_EQ(Get().error().kind(), ErrorKind::kPermission);
  EXPECT_EQ(server_->requests().size(), 2U);
}

}  // namespace
}  // namespace pawl::kube
