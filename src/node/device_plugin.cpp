#include "node/device_plugin.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/files.h"
#include "base/log.h"
#include "node/kubelet_registration.h"
#include "node/plugin_service.h"

namespace pawl::node {
namespace {

using Acceptor = asio::local::stream_protocol::acceptor;

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

std::optional<FileIdentity> SocketIdentity(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}

Result<FileDescriptor> Listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Fail(ErrorKind::kInvalid, "listening on " + path + ": longer than a unix socket's " +
                                         std::to_string(sizeof(address.sun_path) - 1) +
                                         " characters");
  }
  path.copy(address.sun_path, path.size());
  if (SocketIdentity(path)) unlink(path.c_str());
  FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  constexpr int kBacklog = 16;
  if (!listener.valid() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener.get(), kBacklog) != 0) {
    return Fail(Error::FromErrno("listening on " + path));
  }
  return listener;
}

}  // namespace

class DevicePluginServer::Impl : public std::enable_shared_from_this<DevicePluginServer::Impl> {
 public:
  Impl(Acceptor acceptor, std::string path, std::shared_ptr<const PluginState> state)
      : acceptor_(std::move(acceptor)),
        path_(std::move(path)),
        identity_(SocketIdentity(path_)),
        service_(std::move(state), [this] { StreamsChanged(); }) {}

  std::function<void()> on_streams;  // the loop's

  // Connections are accepted on the loop and handed to gRPC, so that the socket file is ours alone
  // to make and to remove.
  static Task<> Accept(std::shared_ptr<Impl> self) {
    while (self->acceptor_.is_open()) {
      boost::system::error_code error;
      asio::local::stream_protocol::socket connection =
          co_await self->acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error == asio::error::operation_aborted || !self->acceptor_.is_open()) co_return;
      if (error) {
        log::Warning("accepting a connection failed",
                     {{"socket", self->path_}, {"error", error.message()}});
        co_await Sleep(100ms);
        continue;
      }
      FileDescriptor accepted(connection.release(error));
      fcntl(accepted.get(), F_SETFD, FD_CLOEXEC);
      fcntl(accepted.get(), F_SETFL, O_NONBLOCK);
      self->service_.Serve(std::move(accepted));
    }
  }

  bool SocketIsOurs() const { return identity_ && SocketIdentity(path_) == identity_; }

  void Stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    if (SocketIsOurs()) unlink(path_.c_str());
    identity_.reset();
    on_streams = nullptr;
    if (const auto pending = registration_.lock()) pending->Cancel();
    service_.Stop();
  }

  std::string Endpoint() const { return path_.substr(path_.rfind('/') + 1); }

  PluginService& service() { return service_; }
  std::weak_ptr<KubeletRegistration>& registration() { return registration_; }

 private:
  // On gRPC's thread, which Stop waits for: we exist, but may be on the way out when the loop comes
  // to it.
  void StreamsChanged() {
    asio::post(acceptor_.get_executor(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->on_streams) self->on_streams();
    });
  }

  Acceptor acceptor_;
  std::string path_;
  std::optional<FileIdentity> identity_;  // of the socket file that we made
  std::weak_ptr<KubeletRegistration> registration_;
  PluginService service_;
};

DevicePluginServer::DevicePluginServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

DevicePluginServer::~DevicePluginServer() { Stop(); }

Result<std::unique_ptr<DevicePluginServer>> DevicePluginServer::Start(
    const Executor& executor, const std::string& socket_path,
    std::shared_ptr<const PluginState> state) {
  Result<FileDescriptor> listener = Listen(socket_path);
  if (!listener) return Fail(listener.error());
  Acceptor acceptor(executor, asio::local::stream_protocol(), listener->Release());
  auto impl = std::make_shared<Impl>(std::move(acceptor), socket_path, std::move(state));
  Spawn(executor, "device plugin connections", Impl::Accept(impl));
  return std::unique_ptr<DevicePluginServer>(new DevicePluginServer(std::move(impl)));
}

void DevicePluginServer::Publish(std::shared_ptr<const PluginState> state) {
  impl_->service().Publish(std::move(state));
}

Task<Status> DevicePluginServer::Register(std::string kubelet_socket, std::string resource,
                                          Duration deadline) {
  const Executor executor = co_await asio::this_coro::executor;
  auto started = KubeletRegistration::Start(executor, impl_->service().queue(), kubelet_socket,
                                            impl_->Endpoint(), resource, deadline);
  if (!started) co_return Fail(started.error());
  const std::shared_ptr<KubeletRegistration> registration = *std::move(started);
  impl_->registration() = registration;
  co_return co_await registration->Wait();
}

bool DevicePluginServer::SocketIsOurs() const { return impl_->SocketIsOurs(); }
size_t DevicePluginServer::Streams() const { return impl_->service().Streams(); }
void DevicePluginServer::SetOnStreams(std::function<void()> on_streams) {
  impl_->on_streams = std::move(on_streams);
}
void DevicePluginServer::Stop() { impl_->Stop(); }

}  // namespace pawl::node
