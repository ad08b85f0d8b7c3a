#include "kube/transport.h"

#include "kube/connection.h"

namespace pawl::kube {
namespace {

constexpr size_t kIdleConnections = 2;
constexpr int kBusyConnections = 8;
constexpr Duration kIdleTime = 60s;

std::string Render(const HttpRequest& request, const ServerAddress& address) {
  std::string text;
  text.reserve(512 + request.body.size());
  text += request.method + " " + address.prefix + request.target + " HTTP/1.1\r\n";
  text += "Host: " + address.Authority() + "\r\n";
  for (const auto& [name, value] : request.headers) {
    text += name;
    text += ": ";
    text += value;
    text += "\r\n";
  }
  if (!request.body.empty() || request.method != "GET") {
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  text += "\r\n";
  text += request.body;
  return text;
}

}  // namespace

// Connections between two requests, and the count of those within one. Requests beyond the limit
// wait for their turn.
class ConnectionPool {
 public:
  explicit ConnectionPool(const Executor& executor) : freed_(executor) {}

  Task<Status> Enter(Time deadline) {
    while (busy_ >= kBusyConnections) {
      const Duration left = deadline - std::chrono::steady_clock::now();
      if (left <= Duration::zero()) {
        co_return Fail(ErrorKind::kDeadlineExceeded, "too many requests are under way");
      }
      ++waiting_;
      co_await freed_.WaitFor(left);
      --waiting_;
    }
    ++busy_;
    if (busy_ < kBusyConnections) freed_.Notify();  // more than one may have been freed
    co_return Status();
  }

  void Leave() {
    --busy_;
    freed_.Notify();
  }

  // An idle connection that the server still holds open, or null.
  std::unique_ptr<Connection> Take() {
    const Time now = std::chrono::steady_clock::now();
    while (!idle_.empty()) {
      Idle last = std::move(idle_.back());
      idle_.pop_back();
      if (now - last.since < kIdleTime && last.connection->StillOpen()) {
        return std::move(last.connection);
      }
    }
    return nullptr;
  }

  void Give(std::unique_ptr<Connection> connection) {
    if (idle_.size() >= kIdleConnections && waiting_ == 0) return;
    idle_.push_back(Idle{std::move(connection), std::chrono::steady_clock::now()});
  }

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    Time since;
  };
  std::vector<Idle> idle_;
  int busy_ = 0;
  int waiting_ = 0;
  Event freed_;
};

struct Transport::Tls {
  std::unique_ptr<TlsSettings> settings;
};

HttpStream::HttpStream(std::unique_ptr<Connection> connection, std::shared_ptr<ConnectionPool> pool)
    : connection_(std::move(connection)), pool_(std::move(pool)) {}

HttpStream::~HttpStream() {
  if (!pool_) return;
  if (connection_ && connection_->Reusable()) pool_->Give(std::move(connection_));
  pool_->Leave();
}

const HttpHead& HttpStream::head() const { return connection_->response().head; }

Task<Result<std::string_view>> HttpStream::Next(Time deadline) {
  HttpResponse& response = connection_->response();
  if (taken_) response.body.clear();
  while (response.body.empty() && !response.is_done()) {
    const Status advanced = co_await connection_->Advance(deadline);
    if (!advanced) co_return Fail(advanced.error());
  }
  taken_ = true;
  co_return std::string_view(response.body);
}

Task<Result<std::string>> HttpStream::ReadAll(Time deadline, size_t limit) {
  std::string all;
  while (true) {
    const Result<std::string_view> bytes = co_await Next(deadline);
    if (!bytes) co_return Fail(bytes.error());
    if (bytes->empty()) co_return all;
    all += *bytes;
    if (all.size() > limit) co_return Fail(ErrorKind::kInternal, "the server's answer is too long");
  }
}

void HttpStream::Close() { connection_->Close(); }

Transport::Transport(Executor executor, ServerAddress address, std::unique_ptr<Tls> tls)
    : executor_(std::move(executor)),
      address_(std::move(address)),
      tls_(std::move(tls)),
      pool_(std::make_shared<ConnectionPool>(executor_)) {}

Transport::~Transport() = default;

Result<std::unique_ptr<Transport>> Transport::Create(const Executor& executor,
                                                     const ClientConfig& config) {
  Result<ServerAddress> address = ParseServer(config.server);
  if (!address) return Fail(address.error());
  auto tls = std::make_unique<Tls>();
  if (address->tls) {
    Result<std::unique_ptr<TlsSettings>> settings = TlsSettings::Create(config, address->host);
    if (!settings) return Fail(settings.error());
    tls->settings = std::move(*settings);
  }
  return std::unique_ptr<Transport>(new Transport(executor, std::move(*address), std::move(tls)));
}

// Sends and awaits the head on one connection.
Task<Status> Transport::Exchange(Connection& connection, const std::string& bytes, Time deadline) {
  Status done = co_await connection.Write(bytes, deadline);
  while (done && !connection.response().is_header_done()) {
    done = co_await connection.Advance(deadline);
  }
  co_return done;
}

Task<Result<std::unique_ptr<HttpStream>>> Transport::Open(const HttpRequest& request, Use use,
                                                          Time deadline) {
  const bool pooled = use == Use::kPooled;
  if (pooled) {
    const Status entered = co_await pool_->Enter(deadline);
    if (!entered) co_return Fail(entered.error());
  }
  // From here the stream holds our place in the pool, also when it fails.
  auto stream =
      std::make_unique<HttpStream>(nullptr, pooled ? pool_ : std::shared_ptr<ConnectionPool>());
  const std::string bytes = Render(request, address_);
  if (pooled) stream->connection_ = pool_->Take();
  if (stream->connection_) {
    const Status answered = co_await Exchange(*stream->connection_, bytes, deadline);
    if (answered) co_return stream;
    // The server may have closed it just now. What might have been done is not sent again.
    const bool again = request.method == "GET" && !stream->connection_->answered() &&
                       answered.error().kind() == ErrorKind::kUnavailable;
    if (!again) co_return Fail(answered.error());
  }
  Result<std::unique_ptr<Connection>> fresh =
      co_await Connection::Open(executor_, address_, tls_->settings.get(), deadline);
  if (!fresh) co_return Fail(fresh.error());
  stream->connection_ = std::move(*fresh);
  const Status answered = co_await Exchange(*stream->connection_, bytes, deadline);
  if (!answered) co_return Fail(answered.error());
  co_return stream;
}

}  // namespace pawl::kube
