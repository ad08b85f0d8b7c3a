// One connection to the server: connect, shake hands, write a request, read its response.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "kube/config.h"
#include "kube/http_response.h"

namespace pawl::kube {

// What TLS connections to one server share.
struct TlsSettings {
  asio::ssl::context context;
  std::string name;  // to verify and to send
  bool insecure = false;

  static Result<std::unique_ptr<TlsSettings>> Create(const ClientConfig& config,
                                                     const std::string& host);
};

class Connection {
 public:
  // `tls` is null for plain HTTP, and outlives the connection's opening only.
  static Task<Result<std::unique_ptr<Connection>>> Open(Executor executor, ServerAddress address,
                                                        TlsSettings* tls, Time deadline);

  // Begins an exchange: sends the bytes of a request and forgets the last response.
  Task<Status> Write(std::string_view bytes, Time deadline);

  // Reads on: some more of the response, or its end. kDeadlineExceeded, kCancelled after Close,
  // kUnavailable when the server broke off.
  Task<Status> Advance(Time deadline);

  HttpResponse& response() { return *response_; }
  bool answered() const { return response_->got_some(); }

  // Nothing left to read, and the server keeps the connection: fit for another request.
  bool Reusable();
  // Still so after some time without use: the server has not closed it.
  bool StillOpen();
  void Close();

 private:
  using Tcp = boost::beast::tcp_stream;

  Connection(const Executor& executor, TlsSettings* tls);
  Tcp& tcp() { return tls_ ? tls_->next_layer() : *plain_; }
  Task<Status> Dial(ServerAddress address, Time deadline);
  Task<Status> Handshake(const TlsSettings& tls, Time deadline);
  Task<Result<size_t>> ReadSome(Time deadline);  // into the buffer; 0: the server closed
  Status Parse();

  std::optional<Tcp> plain_;
  std::optional<asio::ssl::stream<Tcp>> tls_;
  std::optional<HttpResponse> response_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what is not parsed yet
  size_t end_ = 0;
  bool hungry_ = true;  // the parser needs more bytes than there are
  bool closed_ = false;
};

}  // namespace pawl::kube
