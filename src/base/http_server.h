// A small HTTP server for probes and metrics: GET on a few fixed paths, on the event loop, without
// TLS. It answers what it knows and closes; slow, greedy and silent clients are cut off.
//
//   HttpServer server(executor);
//   server.Handle("/healthz", [] { return HttpServer::Answer{200, "text/plain", "ok\n"}; });
//   Status listening = server.Listen(":8081");
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"

namespace pawl {

class HttpServer {
 public:
  struct Answer {
    unsigned code = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
  };
  using Handler = std::function<Answer()>;

  explicit HttpServer(const Executor& executor);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The handler runs on the loop and must not wait.
  void Handle(std::string path, Handler handler);

  // ":8080" (all addresses), "127.0.0.1:8080", "[::1]:8080"; port 0 takes a free one. "0" and the
  // empty text serve nothing and succeed. Starts to answer at once. kInvalid for what is no
  // address, the system's error where it cannot be had.
  Status Listen(std::string_view address);

  uint16_t port() const;  // the one in use; 0 when it does not listen

  void Stop();  // no new connections; running ones end by themselves

 private:
  struct Shared;  // outlives the server while connections run
  std::shared_ptr<Shared> shared_;
};

}  // namespace pawl
