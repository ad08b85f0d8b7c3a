#include "node/kubelet_registration.h"

#include <grpcpp/create_channel_posix.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/post.hpp>

#include "base/files.h"

namespace pawl::node {
namespace {

Result<FileDescriptor> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Fail(ErrorKind::kInvalid, "connecting to " + path + ": too long for a unix socket");
  }
  path.copy(address.sun_path, path.size());
  // A unix socket connects at once or, when kubelet's queue is full, says EAGAIN.
  FileDescriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection.valid() || connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                                     sizeof(address)) != 0) {
    return Fail(Error::FromErrno("connecting to " + path));
  }
  return connection;
}

ErrorKind KindOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::UNAVAILABLE:
      return ErrorKind::kUnavailable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorKind::kDeadlineExceeded;
    case grpc::StatusCode::CANCELLED:
      return ErrorKind::kCancelled;
    case grpc::StatusCode::INVALID_ARGUMENT:
      return ErrorKind::kInvalid;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kInternal;
  }
}

}  // namespace

Result<std::shared_ptr<KubeletRegistration>> KubeletRegistration::Start(
    const Executor& executor, grpc::CompletionQueue& queue, const std::string& kubelet_socket,
    const std::string& endpoint, const std::string& resource, Duration deadline) {
  const std::string what = "registering " + resource + " with kubelet";
  Result<FileDescriptor> connection = Connect(kubelet_socket);
  if (!connection) return Fail(connection.error().With(what));
  std::shared_ptr<KubeletRegistration> call(new KubeletRegistration(executor, what));

  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  call->channel_ =
      grpc::CreateCustomInsecureChannelFromFd("kubelet", connection->Release(), arguments);
  call->stub_ = v1beta1::Registration::NewStub(call->channel_);

  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(endpoint);
  request.set_resource_name(resource);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  call->context_.set_deadline(
      std::chrono::system_clock::now() +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline));
  call->self_ = call;
  call->reader_ = call->stub_->AsyncRegister(&call->context_, request, &queue);
  call->reader_->Finish(&call->response_, &call->status_, Tag(*call));
  return call;
}

void KubeletRegistration::Done(bool /*ok*/) {
  // On gRPC's thread. The loop learns of it, and the last reference is dropped there.
  asio::post(executor_, [self = std::move(self_)] { self->answered_.Notify(); });
}

Task<Status> KubeletRegistration::Wait() {
  const std::shared_ptr<KubeletRegistration> self = shared_from_this();
  co_await answered_.Wait();
  if (status_.ok()) co_return Status();
  co_return Fail(Error(KindOf(status_.error_code()), status_.error_message()).With(what_));
}

}  // namespace pawl::node
