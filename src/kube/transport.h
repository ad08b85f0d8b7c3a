// HTTP/1.1 to one server, with or without TLS, on the event loop. Requests share a small pool of
// kept-alive connections; a watch has a connection of its own. Nothing here knows Kubernetes.
//
// TLS 1.2 or newer, the server's certificate verified against the given roots and its name or IP
// address, a client certificate where there is one. TCP_USER_TIMEOUT 45 s, TCP keepalive 30 s,
// connecting at most 30 s, the handshake at most 10 s (spec/kubernetes-client.md §1, §3).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "kube/config.h"

namespace pawl::kube {

class Connection;
class ConnectionPool;

struct HttpRequest {
  std::string method;
  std::string target;  // path and query, without the server's prefix
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct HttpHead {
  unsigned code = 0;
  std::string retry_after;  // the header as it came
  std::string content_type;
  std::vector<std::string> warnings;  // texts of Warning headers
};

// An answer whose body is still to come. Dropping it closes the connection unless the body was read
// to its end.
class HttpStream {
 public:
  HttpStream(std::unique_ptr<Connection> connection, std::shared_ptr<ConnectionPool> pool);
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  const HttpHead& head() const;

  // The next bytes of the body, at least one; empty at its end. They are valid until the next call.
  // kDeadlineExceeded when nothing came by `deadline`, kUnavailable when the connection broke.
  Task<Result<std::string_view>> Next(Time deadline);

  // The whole rest of the body. Refuses more than `limit` bytes.
  Task<Result<std::string>> ReadAll(Time deadline, size_t limit);

  // Ends a pending Next with kCancelled. Call it on the loop.
  void Close();

 private:
  friend class Transport;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<ConnectionPool> pool_;  // null: the connection is the stream's own
  bool taken_ = false;                    // the bytes at hand were given out
};

class Transport {
 public:
  enum class Use { kPooled, kOwnConnection };

  // kInvalid for certificates or keys that do not parse.
  static Result<std::unique_ptr<Transport>> Create(const Executor& executor,
                                                   const ClientConfig& config);
  ~Transport();

  // Sends the request and reads the head of the answer. The request must outlive the call. Any
  // HTTP status is a success here. kUnavailable when the server cannot be reached or breaks off,
  // kDeadlineExceeded after `deadline`.
  Task<Result<std::unique_ptr<HttpStream>>> Open(const HttpRequest& request, Use use,
                                                 Time deadline);

  bool tls() const { return address_.tls; }

 private:
  struct Tls;
  Transport(Executor executor, ServerAddress address, std::unique_ptr<Tls> tls);
  static Task<Status> Exchange(Connection& connection, const std::string& bytes, Time deadline);

  Executor executor_;
  ServerAddress address_;
  std::unique_ptr<Tls> tls_;
  std::shared_ptr<ConnectionPool> pool_;
};

}  // namespace pawl::kube
