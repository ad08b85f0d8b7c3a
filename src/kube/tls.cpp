// TLS settings: versions, roots, our certificate, memory.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "kube/connection.h"

namespace pawl::kube {
namespace {

Status LoadRoots(asio::ssl::context& context, const ClientConfig& config) {
  boost::system::error_code error;
  if (config.insecure) return {};
  if (config.ca_pem.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.add_certificate_authority(asio::buffer(config.ca_pem), error);
  }
  if (error) {
    return Fail(ErrorKind::kInvalid,
                "the certificate authority cannot be read: " + error.message());
  }
  return {};
}

Status LoadOwnCertificate(asio::ssl::context& context, const ClientConfig& config) {
  if (config.client_certificate_pem.empty()) return {};
  boost::system::error_code error;
  context.use_certificate_chain(asio::buffer(config.client_certificate_pem), error);
  if (error) {
    return Fail(ErrorKind::kInvalid, "the client certificate cannot be read: " + error.message());
  }
  context.use_private_key(asio::buffer(config.client_key_pem), asio::ssl::context::pem, error);
  if (error) return Fail(ErrorKind::kInvalid, "the client key cannot be read: " + error.message());
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return Fail(ErrorKind::kInvalid, "the client key does not belong to the client certificate");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<TlsSettings>> TlsSettings::Create(const ClientConfig& config,
                                                         const std::string& host) {
  auto settings = std::make_unique<TlsSettings>(TlsSettings{
      asio::ssl::context(asio::ssl::context::tls_client), config.tls_server_name, config.insecure});
  if (settings->name.empty()) settings->name = host;
  SSL_CTX* context = settings->context.native_handle();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // an idle watch holds no buffers
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, config.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  if (Status roots = LoadRoots(settings->context, config); !roots) return Fail(roots.error());
  if (Status own = LoadOwnCertificate(settings->context, config); !own) return Fail(own.error());
  return settings;
}

}  // namespace pawl::kube
