// An HTTP server within the test's own event loop, for tests of what talks to an API server. It
// answers by a function, and can break off, fall silent or dribble.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "kube/client.h"

namespace pawl::kube::testing {

// Runs the loop until `done` says so. Fails the test after 10 s.
inline void RunUntil(asio::io_context& loop, const std::function<bool()>& done) {
  const Time deadline = std::chrono::steady_clock::now() + 10s;
  loop.restart();
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) {
      FAIL() << "what the test waits for did not happen in 10 s";
    }
    loop.run_one_for(100ms);
    if (loop.stopped()) loop.restart();
  }
}

template <typename T>
Task<> Store(Task<T> task, std::shared_ptr<std::optional<T>> into) {
  into->emplace(co_await std::move(task));
}

// Runs the loop until the task has its value.
template <typename T>
T Await(asio::io_context& loop, Task<T> task) {
  auto value = std::make_shared<std::optional<T>>();
  Spawn(loop.get_executor(), "test", Store(std::move(task), value));
  RunUntil(loop, [&] { return value->has_value(); });
  if (!value->has_value()) std::abort();
  return std::move(**value);
}

struct TestReply {
  enum class End { kKeep, kClose, kReset, kHang };
  std::string bytes;
  End end = End::kKeep;
  size_t piece = 0;  // bytes sent at a time; 0: all at once
};

inline TestReply Answer(int code, const std::string& body, const std::string& headers = "") {
  TestReply reply;
  reply.bytes = "HTTP/1.1 " + std::to_string(code) + " X\r\nContent-Type: application/json\r\n" +
                headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  return reply;
}

inline std::string Chunk(const std::string& bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

// A watch that says these frames, one a chunk, then ends as told; kKeep is a normal end.
inline TestReply Watch(const std::vector<std::string>& frames,
                       TestReply::End end = TestReply::End::kHang) {
  TestReply reply;
  reply.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& frame : frames) reply.bytes += Chunk(frame + "\n");
  if (end == TestReply::End::kKeep) reply.bytes += "0\r\n\r\n";
  reply.end = end;
  return reply;
}

// GCC 12 takes the inlined allocation of a coroutine's frame for a mismatch.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
class TestServer {
 public:
  struct Request {
    std::string method;
    std::string target;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    uint64_t connection = 0;

    std::string Header(std::string_view name) const {
      for (const auto& [key, value] : headers) {
        if (key == name) return value;
      }
      return "";
    }
  };
  using Handler = std::function<TestReply(const Request&)>;

  TestServer(asio::io_context& loop, Handler handler, asio::ssl::context* tls = nullptr)
      : handler_(std::move(handler)),
        tls_(tls),
        acceptor_(loop, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    Spawn(loop.get_executor(), "test server", Accept());
  }

  uint16_t port() { return acceptor_.local_endpoint().port(); }
  std::string Url() {
    return (tls_ != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port());
  }
  const std::vector<Request>& requests() const { return requests_; }
  size_t Count(std::string_view part) const {
    size_t count = 0;
    for (const Request& request : requests_) {
      if (request.target.find(part) != std::string::npos) ++count;
    }
    return count;
  }

 private:
  using Socket = asio::ip::tcp::socket;
  using TlsSocket = asio::ssl::stream<Socket>;
  static Socket& Lowest(Socket& socket) { return socket; }
  static Socket& Lowest(TlsSocket& socket) { return socket.next_layer(); }

  Task<> Accept() {
    const Executor executor = acceptor_.get_executor();
    while (true) {
      boost::system::error_code error;
      Socket socket =
          co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      socket.set_option(asio::ip::tcp::no_delay(true));
      if (tls_ != nullptr) {
        Spawn(executor, "test session", Greet(std::move(socket)));
      } else {
        Spawn(executor, "test session", Serve(std::move(socket)));
      }
    }
  }

  Task<> Greet(Socket socket) {
    TlsSocket stream(std::move(socket), *tls_);
    boost::system::error_code error;
    co_await stream.async_handshake(asio::ssl::stream_base::server,
                                    asio::redirect_error(asio::use_awaitable, error));
    if (!error) co_await Serve(std::move(stream));
  }

  template <typename Stream>
  Task<> Serve(Stream stream) {
    namespace http = boost::beast::http;
    boost::beast::flat_buffer buffer;
    const uint64_t number = ++connections_;
    while (true) {
      http::request<http::string_body> message;
      boost::system::error_code error;
      co_await http::async_read(stream, buffer, message,
                                asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      Request request;
      request.method = std::string(message.method_string());
      request.target = std::string(message.target());
      request.body = message.body();
      request.connection = number;
      for (const auto& field : message) {
        request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
      }
      requests_.push_back(request);
      const TestReply reply = handler_(request);
      const size_t piece = reply.piece == 0 ? reply.bytes.size() : reply.piece;
      for (size_t at = 0; at < reply.bytes.size(); at += piece) {
        const asio::const_buffer part(reply.bytes.data() + at,
                                      std::min(piece, reply.bytes.size() - at));
        co_await asio::async_write(stream, part, asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return;
      }
      if (reply.end == TestReply::End::kClose) co_return;
      if (reply.end == TestReply::End::kReset) {
        const linger hard{1, 0};
        setsockopt(Lowest(stream).native_handle(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        co_return;
      }
      if (reply.end == TestReply::End::kHang) {  // until the client lets go
        char byte = 0;
        co_await stream.async_read_some(asio::buffer(&byte, 1),
                                        asio::redirect_error(asio::use_awaitable, error));
        co_return;
      }
    }
  }

  Handler handler_;
  asio::ssl::context* tls_;
  asio::ip::tcp::acceptor acceptor_;
  std::vector<Request> requests_;
  uint64_t connections_ = 0;
};
#pragma GCC diagnostic pop

// A client that never waits between retries and whose chance is always one half.
inline ClientOptions QuickOptions() {
  ClientOptions options;
  options.component = "test";
  options.version = "1.2.3";
  options.request_deadline = 5s;
  options.waiting.pace = 0;
  options.waiting.random = [] { return 0.5; };
  return options;
}

inline std::unique_ptr<Client> NewClient(asio::io_context& loop, const std::string& url,
                                         const ClientOptions& options = QuickOptions()) {
  ClientConfig config;
  config.server = url;
  Result<std::unique_ptr<Client>> client = Client::Create(loop.get_executor(), config, options);
  if (!client) std::abort();
  return std::move(*client);
}

}  // namespace pawl::kube::testing
