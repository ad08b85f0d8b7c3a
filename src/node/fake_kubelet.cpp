#include "node/fake_kubelet.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "node/deviceplugin.grpc.pb.h"

namespace pawl::node {
namespace {

std::shared_ptr<grpc::Channel> Dial(const std::string& path) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  // Each dial is a connection of its own, as kubelet's are: the name alone does not tell plugins
  // apart that come one after the other.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + path, grpc::InsecureChannelCredentials(), arguments);
}

std::unique_ptr<grpc::ClientContext> Context(Duration deadline) {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() +
                        std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline));
  return context;
}

Error ToError(const grpc::Status& status) {
  return {status.error_code() == grpc::StatusCode::UNAVAILABLE ? ErrorKind::kUnavailable
                                                               : ErrorKind::kInternal,
          std::to_string(status.error_code()) + ": " + status.error_message()};
}

void DeleteSockets(const std::string& folder) {
  const Result<std::vector<std::string>> names = ListFolder(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    struct stat found {};
    if (lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(path.c_str());
  }
}

std::vector<PluginDevice> FromMessage(const v1beta1::ListAndWatchResponse& message) {
  std::vector<PluginDevice> devices;
  for (const v1beta1::Device& entry : message.devices()) {
    PluginDevice device;
    device.id = entry.id();
    device.healthy = entry.health() == "Healthy";
    if (entry.topology().nodes_size() > 0) {
      device.numa_node = static_cast<int>(entry.topology().nodes(0).id());
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

AllocateAnswer FromMessage(const v1beta1::ContainerAllocateResponse& message) {
  AllocateAnswer answer;
  answer.envs.insert(message.envs().begin(), message.envs().end());
  answer.annotations.insert(message.annotations().begin(), message.annotations().end());
  for (const v1beta1::Mount& entry : message.mounts()) {
    answer.mounts.push_back({entry.container_path(), entry.host_path(), entry.read_only()});
  }
  for (const v1beta1::DeviceSpec& entry : message.devices()) {
    answer.devices.push_back({entry.container_path(), entry.host_path(), entry.permissions()});
  }
  for (const v1beta1::CDIDevice& entry : message.cdi_devices()) {
    answer.cdi_devices.push_back(entry.name());
  }
  return answer;
}

}  // namespace

bool RunUntil(asio::io_context& loop, const std::function<bool()>& reached, Duration deadline) {
  const Time end = std::chrono::steady_clock::now() + deadline;
  loop.restart();
  while (!reached()) {
    if (std::chrono::steady_clock::now() > end) return false;
    if (loop.stopped()) loop.restart();
    loop.run_one_for(5ms);
  }
  return true;
}

class FakeKubelet::Impl final : public v1beta1::Registration::Service {
 public:
  explicit Impl(std::string folder) : folder_(std::move(folder)) {
    DeleteSockets(folder_);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + SocketPath(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (!server_) {
      std::fprintf(stderr, "no socket at %s\n", SocketPath().c_str());
      std::abort();
    }
  }

  ~Impl() override {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      for (grpc::ClientContext* stream : streams_) stream->TryCancel();
    }
    server_->Shutdown(std::chrono::system_clock::now() + 1s);
    for (std::thread& follower : followers_) follower.join();
  }

  grpc::Status Register(grpc::ServerContext* /*context*/, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*response*/) override {
    Registration registration{request->version(), request->endpoint(), request->resource_name(),
                              request->options().get_preferred_allocation_available(), false};
    {
      const std::scoped_lock lock(mutex_);
      if (refuse_) return {grpc::StatusCode::UNKNOWN, "refused by the test"};
    }
    std::shared_ptr<grpc::Channel> channel = Dial(folder_ + "/" + request->endpoint());
    const auto stub = v1beta1::DevicePlugin::NewStub(channel);
    const auto context = Context(10s);
    v1beta1::DevicePluginOptions options;
    const grpc::Status answered = stub->GetDevicePluginOptions(context.get(), {}, &options);
    if (!answered.ok()) return {grpc::StatusCode::UNKNOWN, answered.error_message()};
    registration.preferred_allocation_when_asked = options.get_preferred_allocation_available();
    const std::scoped_lock lock(mutex_);
    if (stopping_) return {grpc::StatusCode::UNAVAILABLE, "stopping"};
    registrations_.push_back(std::move(registration));
    plugin_ = channel;
    followers_.emplace_back([this, channel] { Follow(channel); });
    return grpc::Status::OK;
  }

  void Follow(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return;
      streams_.push_back(&context);
    }
    const auto stub = v1beta1::DevicePlugin::NewStub(channel);
    const auto reader = stub->ListAndWatch(&context, {});
    v1beta1::ListAndWatchResponse message;
    while (reader->Read(&message)) {
      const std::scoped_lock lock(mutex_);
      lists_.push_back(FromMessage(message));
    }
    reader->Finish();
    const std::scoped_lock lock(mutex_);
    std::erase(streams_, &context);
  }

  std::unique_ptr<v1beta1::DevicePlugin::Stub> Plugin() const {
    const std::scoped_lock lock(mutex_);
    return plugin_ ? v1beta1::DevicePlugin::NewStub(plugin_) : nullptr;
  }

  std::string SocketPath() const { return folder_ + "/kubelet.sock"; }

  std::string folder_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::thread> followers_;
  mutable std::mutex mutex_;  // all below
  bool refuse_ = false;
  bool stopping_ = false;
  std::vector<Registration> registrations_;
  std::vector<std::vector<PluginDevice>> lists_;
  std::vector<grpc::ClientContext*> streams_;
  std::shared_ptr<grpc::Channel> plugin_;
};

FakeKubelet::FakeKubelet(std::string folder) : impl_(std::make_unique<Impl>(std::move(folder))) {}
FakeKubelet::~FakeKubelet() = default;

std::string FakeKubelet::SocketPath() const { return impl_->SocketPath(); }

void FakeKubelet::Refuse(bool refuse) {
  const std::scoped_lock lock(impl_->mutex_);
  impl_->refuse_ = refuse;
}

std::vector<FakeKubelet::Registration> FakeKubelet::Registrations() const {
  const std::scoped_lock lock(impl_->mutex_);
  return impl_->registrations_;
}

std::vector<std::vector<PluginDevice>> FakeKubelet::Lists() const {
  const std::scoped_lock lock(impl_->mutex_);
  return impl_->lists_;
}

size_t FakeKubelet::OpenStreams() const {
  const std::scoped_lock lock(impl_->mutex_);
  return impl_->streams_.size();
}

void FakeKubelet::DropStreams() {
  const std::scoped_lock lock(impl_->mutex_);
  for (grpc::ClientContext* stream : impl_->streams_) stream->TryCancel();
}

Result<AllocateAnswer> FakeKubelet::Allocate(const std::vector<std::string>& ids) {
  const auto plugin = impl_->Plugin();
  if (!plugin) return Fail(ErrorKind::kUnavailable, "no plugin has registered");
  v1beta1::AllocateRequest request;
  request.add_container_requests()->mutable_devices_ids()->Add(ids.begin(), ids.end());
  v1beta1::AllocateResponse response;
  const auto context = Context(10s);
  const grpc::Status status = plugin->Allocate(context.get(), request, &response);
  if (!status.ok()) return Fail(ToError(status));
  if (response.container_responses_size() != 1) {
    return Fail(ErrorKind::kInternal, "not one answer for one container");
  }
  return FromMessage(response.container_responses(0));
}

Result<std::vector<std::string>> FakeKubelet::Preferred(const std::vector<std::string>& available,
                                                        const std::vector<std::string>& required,
                                                        int size) {
  const auto plugin = impl_->Plugin();
  if (!plugin) return Fail(ErrorKind::kUnavailable, "no plugin has registered");
  v1beta1::PreferredAllocationRequest request;
  v1beta1::ContainerPreferredAllocationRequest& container = *request.add_container_requests();
  container.mutable_available_deviceids()->Add(available.begin(), available.end());
  container.mutable_must_include_deviceids()->Add(required.begin(), required.end());
  container.set_allocation_size(size);
  v1beta1::PreferredAllocationResponse response;
  const auto context = Context(10s);
  const grpc::Status status = plugin->GetPreferredAllocation(context.get(), request, &response);
  if (!status.ok()) return Fail(ToError(status));
  if (response.container_responses_size() != 1) {
    return Fail(ErrorKind::kInternal, "not one answer for one container");
  }
  const auto& chosen = response.container_responses(0).deviceids();
  return std::vector<std::string>(chosen.begin(), chosen.end());
}

Status FakeKubelet::PreStart(const std::vector<std::string>& ids) {
  const auto plugin = impl_->Plugin();
  if (!plugin) return Fail(ErrorKind::kUnavailable, "no plugin has registered");
  v1beta1::PreStartContainerRequest request;
  request.mutable_devices_ids()->Add(ids.begin(), ids.end());
  v1beta1::PreStartContainerResponse response;
  const auto context = Context(10s);
  const grpc::Status status = plugin->PreStartContainer(context.get(), request, &response);
  if (!status.ok()) return Fail(ToError(status));
  return {};
}

}  // namespace pawl::node
