#include "base/http_server.h"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "base/log.h"
#include "base/text.h"

namespace pawl {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kPatience = 10s;          // for one request and its answer
constexpr size_t kMostConnections = 64;  // at once; more are closed at once
constexpr uint32_t kMostHeader = 8 << 10;

struct Endpoint {
  std::string host;  // empty: all addresses
  uint16_t port = 0;
};

Result<Endpoint> ParseEndpoint(std::string_view address) {
  const size_t colon = address.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : ParseUnsigned(address.substr(colon + 1));
  if (!port || *port > 65535) {
    return Fail(ErrorKind::kInvalid,
                "expected HOST:PORT or :PORT, found \"" + std::string(address) + "\"");
  }
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Endpoint{std::string(host), static_cast<uint16_t>(*port)};
}

}  // namespace

struct HttpServer::Shared {
  explicit Shared(const Executor& executor) : acceptor(executor) {}
  tcp::acceptor acceptor;
  std::map<std::string, Handler, std::less<>> handlers;
  size_t connections = 0;

  Answer AnswerTo(http::verb method, std::string_view target) const {
    if (method != http::verb::get && method != http::verb::head) {
      return {405, "text/plain; charset=utf-8", "only GET\n"};
    }
    const auto found = handlers.find(target.substr(0, target.find('?')));
    if (found == handlers.end()) return {404, "text/plain; charset=utf-8", "no such page\n"};
    return found->second();
  }

  static Task<> Serve(std::shared_ptr<Shared> shared, tcp::socket socket);
  static Task<> Accept(std::shared_ptr<Shared> shared);
};

Task<> HttpServer::Shared::Serve(std::shared_ptr<Shared> shared, tcp::socket socket) {
  beast::tcp_stream stream(std::move(socket));
  stream.expires_after(kPatience);
  beast::flat_buffer buffer;
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMostHeader);
  parser.body_limit(0);
  boost::system::error_code error;
  co_await http::async_read(stream, buffer, parser,
                            asio::redirect_error(asio::use_awaitable, error));
  if (!error) {
    const auto& request = parser.get();
    const auto target = request.target();
    const Answer answer =
        shared->AnswerTo(request.method(), std::string_view(target.data(), target.size()));
    http::response<http::string_body> response;
    response.version(11);
    response.result(answer.code);
    response.set(http::field::content_type, answer.content_type);
    response.body() = answer.body;
    response.prepare_payload();
    response.keep_alive(false);
    if (request.method() == http::verb::head) response.body().clear();
    co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, error));
  }
  boost::system::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
  --shared->connections;
}

Task<> HttpServer::Shared::Accept(std::shared_ptr<Shared> shared) {
  const Executor executor = shared->acceptor.get_executor();
  while (shared->acceptor.is_open()) {
    boost::system::error_code error;
    tcp::socket socket(executor);
    co_await shared->acceptor.async_accept(socket,
                                           asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      // Out of descriptors, most likely: give connections time to end.
      log::Warning("cannot take an HTTP connection", {{"error", error.message()}});
      co_await Sleep(1s);
      continue;
    }
    if (shared->connections >= kMostConnections) continue;
    ++shared->connections;
    Spawn(executor, "http connection", Serve(shared, std::move(socket)));
  }
}

HttpServer::HttpServer(const Executor& executor) : shared_(std::make_shared<Shared>(executor)) {}

HttpServer::~HttpServer() { Stop(); }

void HttpServer::Handle(std::string path, Handler handler) {
  shared_->handlers.insert_or_assign(std::move(path), std::move(handler));
}

Status HttpServer::Listen(std::string_view address) {
  if (address.empty() || address == "0") return {};
  const Result<Endpoint> wanted = ParseEndpoint(address);
  if (!wanted) return Fail(wanted.error().With("listening"));
  boost::system::error_code error;
  // Without a host, IPv6's any address takes IPv4 too; a kernel without IPv6 has only IPv4's.
  asio::ip::address host = asio::ip::address_v6::any();
  if (!wanted->host.empty()) host = asio::ip::make_address(wanted->host, error);
  if (error) {
    return Fail(ErrorKind::kInvalid,
                "listening: expected an IP address, found \"" + wanted->host + "\"");
  }
  tcp::acceptor& acceptor = shared_->acceptor;
  acceptor.open(host.is_v6() ? tcp::v6() : tcp::v4(), error);
  if (error && wanted->host.empty()) {
    host = asio::ip::address_v4::any();
    acceptor.open(tcp::v4(), error);
  }
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && host.is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(tcp::endpoint(host, wanted->port), error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    return Fail(Error::FromErrno("listening on " + std::string(address), error.value()));
  }
  Spawn(acceptor.get_executor(), "http server", Shared::Accept(shared_));
  return {};
}

uint16_t HttpServer::port() const {
  boost::system::error_code error;
  const tcp::endpoint endpoint = shared_->acceptor.local_endpoint(error);
  return error ? 0 : endpoint.port();
}

void HttpServer::Stop() {
  boost::system::error_code ignored;
  shared_->acceptor.close(ignored);
}

}  // namespace pawl
