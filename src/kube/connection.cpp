#include "kube/connection.h"

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>

namespace pawl::kube {
namespace {

using boost::system::error_code;
using tcp_endpoints = std::vector<asio::ip::tcp::endpoint>;

constexpr size_t kBufferSize = 16384;
constexpr Duration kDialTime = 30s;
constexpr Duration kHandshakeTime = 10s;

Error Broken(std::string_view what, const error_code& error) {
  std::string text(what);
  if (error == boost::beast::error::timeout) {
    return {ErrorKind::kDeadlineExceeded, text + ": no answer in time"};
  }
  if (error == asio::error::operation_aborted) return {ErrorKind::kCancelled, text + ": stopped"};
  return {ErrorKind::kUnavailable, text + ": " + error.message()};
}

void ExpireAt(boost::beast::tcp_stream& stream, Time deadline) {
  if (deadline == Time::max()) {
    stream.expires_never();
  } else {
    stream.expires_at(deadline);
  }
}

// A dead peer is noticed in 45 s even when we only wait for it (spec/kubernetes-client.md §3).
void TuneSocket(asio::ip::tcp::socket& socket) {
  const int fd = socket.native_handle();
  const int on = 1;
  const int idle_s = 30;
  const unsigned user_timeout_ms = 45'000;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof user_timeout_ms);
}

bool IsIpAddress(const std::string& host) {
  error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

// Outlives whoever waits for it: nothing stops the C library once it looks a name up.
struct Lookup {
  explicit Lookup(const Executor& executor) : done(executor) {}
  Event done;
  error_code error;
  tcp_endpoints endpoints;
};

// Names are looked up by the C library in a thread of Asio's. It has time limits of its own, which
// are longer than ours may be.
Task<Result<tcp_endpoints>> Resolve(Executor executor, ServerAddress address, Time deadline) {
  error_code error;
  const asio::ip::address ip = asio::ip::make_address(address.host, error);
  tcp_endpoints endpoints;
  if (!error) {
    endpoints.emplace_back(ip, static_cast<uint16_t>(std::stoul(address.port)));
    co_return endpoints;
  }
  const auto lookup = std::make_shared<Lookup>(executor);
  asio::ip::tcp::resolver resolver(executor);
  resolver.async_resolve(
      address.host, address.port,
      [lookup](const error_code& failed, const asio::ip::tcp::resolver::results_type& found) {
        lookup->error = failed;
        for (const auto& entry : found) lookup->endpoints.push_back(entry.endpoint());
        lookup->done.Notify();
      });
  const bool answered = co_await lookup->done.WaitFor(deadline - std::chrono::steady_clock::now());
  if (!answered) {
    co_return Fail(ErrorKind::kDeadlineExceeded,
                   "looking up " + address.host + ": no answer in time");
  }
  if (lookup->error) {
    co_return Fail(ErrorKind::kUnavailable,
                   "looking up " + address.host + ": " + lookup->error.message());
  }
  co_return std::move(lookup->endpoints);
}

}  // namespace

Connection::Connection(const Executor& executor, TlsSettings* tls) {
  if (tls != nullptr) {
    tls_.emplace(Tcp(executor), tls->context);
  } else {
    plain_.emplace(executor);
  }
  response_.emplace();
}

Task<Result<std::unique_ptr<Connection>>> Connection::Open(Executor executor, ServerAddress address,
                                                           TlsSettings* tls, Time deadline) {
  std::unique_ptr<Connection> connection(new Connection(executor, tls));
  const Status dialled = co_await connection->Dial(address, deadline);
  if (!dialled) co_return Fail(dialled.error());
  if (tls != nullptr) {
    const Status greeted = co_await connection->Handshake(*tls, deadline);
    if (!greeted) co_return Fail(greeted.error());
  }
  co_return connection;
}

Task<Status> Connection::Dial(ServerAddress address, Time deadline) {
  const Executor executor = tcp().get_executor();
  const Time dialled_by = std::min(deadline, std::chrono::steady_clock::now() + kDialTime);
  const Result<tcp_endpoints> endpoints = co_await Resolve(executor, address, dialled_by);
  if (!endpoints) co_return Fail(endpoints.error());
  ExpireAt(tcp(), dialled_by);
  error_code error;
  co_await tcp().async_connect(*endpoints, asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return Fail(Broken("connecting to " + address.Authority(), error));
  TuneSocket(tcp().socket());
  co_return Status();
}

Task<Status> Connection::Handshake(const TlsSettings& tls, Time deadline) {
  SSL* ssl = tls_->native_handle();
  X509_VERIFY_PARAM* verify = SSL_get0_param(ssl);
  if (IsIpAddress(tls.name)) {
    X509_VERIFY_PARAM_set1_ip_asc(verify, tls.name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, tls.name.c_str());
    X509_VERIFY_PARAM_set1_host(verify, tls.name.c_str(), tls.name.size());
  }
  ExpireAt(tcp(), std::min(deadline, std::chrono::steady_clock::now() + kHandshakeTime));
  error_code error;
  co_await tls_->async_handshake(asio::ssl::stream_base::client,
                                 asio::redirect_error(asio::use_awaitable, error));
  if (!error) co_return Status();
  const long verdict = SSL_get_verify_result(ssl);
  if (!tls.insecure && verdict != X509_V_OK) {
    co_return Fail(ErrorKind::kUnavailable, "the certificate of " + tls.name + " is not trusted: " +
                                                X509_verify_cert_error_string(verdict));
  }
  co_return Fail(Broken("TLS handshake with " + tls.name, error));
}

Task<Status> Connection::Write(std::string_view bytes, Time deadline) {
  response_.emplace();
  begin_ = 0;
  end_ = 0;
  hungry_ = true;
  ExpireAt(tcp(), deadline);
  error_code error;
  const asio::const_buffer buffer(bytes.data(), bytes.size());
  if (tls_) {
    co_await asio::async_write(*tls_, buffer, asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await asio::async_write(*plain_, buffer, asio::redirect_error(asio::use_awaitable, error));
  }
  if (closed_) co_return Fail(ErrorKind::kCancelled, "sending the request: stopped");
  if (error) co_return Fail(Broken("sending the request", error));
  co_return Status();
}

Task<Result<size_t>> Connection::ReadSome(Time deadline) {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  buffer_.resize(kBufferSize);
  if (end_ == buffer_.size()) {
    co_return Fail(ErrorKind::kInternal, "the server's HTTP header is too long");
  }
  ExpireAt(tcp(), deadline);
  error_code error;
  size_t count = 0;
  const asio::mutable_buffer space(buffer_.data() + end_, buffer_.size() - end_);
  if (tls_) {
    count = co_await tls_->async_read_some(space, asio::redirect_error(asio::use_awaitable, error));
  } else {
    count =
        co_await plain_->async_read_some(space, asio::redirect_error(asio::use_awaitable, error));
  }
  if (closed_) co_return Fail(ErrorKind::kCancelled, "reading the answer: stopped");
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    co_return size_t{0};
  }
  if (error) co_return Fail(Broken("reading the answer", error));
  end_ += count;
  co_return count;
}

Status Connection::Parse() {
  error_code error;
  const size_t taken =
      response_->put(asio::const_buffer(buffer_.data() + begin_, end_ - begin_), error);
  begin_ += taken;
  hungry_ = error == boost::beast::http::error::need_more || taken == 0;
  if (error && error != boost::beast::http::error::need_more) {
    return Fail(ErrorKind::kInternal, "the server's answer is not HTTP: " + error.message());
  }
  return {};
}

Task<Status> Connection::Advance(Time deadline) {
  if (begin_ == end_ || hungry_) {
    const Result<size_t> count = co_await ReadSome(deadline);
    if (!count) co_return Fail(count.error());
    if (*count == 0) {
      error_code error = boost::beast::http::error::partial_message;
      if (response_->got_some()) response_->put_eof(error);
      closed_ = true;
      if (!error) co_return Status();
      co_return Fail(ErrorKind::kUnavailable, "the server closed the connection");
    }
  }
  co_return Parse();
}

bool Connection::Reusable() {
  return !closed_ && response_->is_done() && response_->keep_alive() && begin_ == end_;
}

bool Connection::StillOpen() {
  char byte = 0;
  const ssize_t count = recv(tcp().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Connection::Close() {
  closed_ = true;
  tcp().close();
}

}  // namespace pawl::kube
