#include "node/plugin_service.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include "node/plugin_messages.h"

namespace pawl::node {

// A call with one request and one answer. Owns itself: from the moment it waits for a request until
// the answer is sent.
template <typename Request, typename Response>
class UnaryCall final : public Completion {
 public:
  using Service = v1beta1::DevicePlugin::AsyncService;
  using Await = void (Service::*)(grpc::ServerContext*, Request*,
                                  grpc::ServerAsyncResponseWriter<Response>*,
                                  grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*);
  using Answer = grpc::Status (*)(const PluginState&, const Request&, Response&);

  // Needs the service's mutex.
  static void Start(PluginService& service, Await await, Answer answer) {
    auto* call = new UnaryCall(service, await, answer);
    (service.service_.*await)(&call->context_, &call->request_, &call->writer_,
                              service.queue_.get(), service.queue_.get(), Tag(*call));
  }

  void Done(bool ok) override {
    if (answered_ || !ok) {
      delete this;
      return;
    }
    {
      const std::scoped_lock lock(service_.mutex_);
      if (!service_.stopping_) Start(service_, await_, answer_);
    }
    answered_ = true;
    const std::shared_ptr<const PluginState> state = service_.State();
    Response response;
    const grpc::Status status = answer_(*state, request_, response);
    if (status.ok()) {
      writer_.Finish(response, status, Tag(*this));
    } else {
      writer_.FinishWithError(status, Tag(*this));
    }
  }

 private:
  UnaryCall(PluginService& service, Await await, Answer answer)
      : service_(service), await_(await), answer_(answer), writer_(&context_) {}

  PluginService& service_;
  Await await_;
  Answer answer_;
  grpc::ServerContext context_;
  Request request_;
  grpc::ServerAsyncResponseWriter<Response> writer_;
  bool answered_ = false;
};

// One ListAndWatch stream. Owns itself until gRPC has no more completions for it: neither of a step
// (accept, write, finish) nor that the call is over.
//
//   waiting ──accepted──> idle <──> writing
//                          └──> finishing ──> ended
class WatchCall {
 public:
  // Needs the service's mutex.
  static void Start(PluginService& service) {
    auto* call = new WatchCall(service);
    call->context_.AsyncNotifyWhenDone(Tag(call->over_));
    service.service_.RequestListAndWatch(&call->context_, &call->request_, &call->writer_,
                                         service.queue_.get(), service.queue_.get(),
                                         Tag(call->step_));
  }

  // Sends what is new, if nothing is under way. Needs the service's mutex.
  void Advance() {
    if (stage_ != Stage::kIdle) return;
    if (service_.stopping_) {
      stage_ = Stage::kFinishing;
      writer_.Finish(grpc::Status::OK, Tag(step_));
      return;
    }
    if (sent_ == service_.state_) return;
    const bool news = sent_ == nullptr || sent_->devices != service_.state_->devices;
    sent_ = service_.state_;
    if (!news) return;
    stage_ = Stage::kWriting;
    writer_.Write(ToMessage(sent_->devices), Tag(step_));
  }

 private:
  enum class Stage { kWaiting, kIdle, kWriting, kFinishing, kEnded };

  struct Step final : Completion {
    explicit Step(WatchCall& owner) : call(owner) {}
    void Done(bool ok) override { call.Stepped(ok); }
    WatchCall& call;
  };
  struct Over final : Completion {
    explicit Over(WatchCall& owner) : call(owner) {}
    void Done(bool /*ok*/) override { call.IsOver(); }
    WatchCall& call;
  };

  explicit WatchCall(PluginService& service)
      : service_(service), writer_(&context_), step_(*this), over_(*this) {}

  void Stepped(bool ok) {
    std::unique_lock lock(service_.mutex_);
    if (stage_ == Stage::kWaiting) {
      if (!ok) {  // the server stops, and there will be no "over" for a call that never began
        lock.unlock();
        delete this;
        return;
      }
      if (!service_.stopping_) Start(service_);
      service_.streams_.insert(this);
      service_.on_streams_();
      stage_ = Stage::kIdle;
      Advance();
      return;
    }
    stage_ = ok && stage_ == Stage::kWriting && !gone_ ? Stage::kIdle : Stage::kEnded;
    Advance();
    EndIfOver(lock);
  }

  void IsOver() {
    std::unique_lock lock(service_.mutex_);
    gone_ = true;
    if (stage_ == Stage::kIdle) stage_ = Stage::kEnded;
    EndIfOver(lock);
  }

  void EndIfOver(std::unique_lock<std::mutex>& lock) {
    if (stage_ == Stage::kEnded && service_.streams_.erase(this) > 0) service_.on_streams_();
    if (stage_ != Stage::kEnded || !gone_) return;
    lock.unlock();
    delete this;
  }

  PluginService& service_;
  grpc::ServerContext context_;
  v1beta1::Empty request_;
  grpc::ServerAsyncWriter<v1beta1::ListAndWatchResponse> writer_;
  Step step_;
  Over over_;
  Stage stage_ = Stage::kWaiting;
  bool gone_ = false;
  std::shared_ptr<const PluginState> sent_;
};

namespace {

grpc::Status AnswerOptions(const PluginState& /*state*/, const v1beta1::Empty& /*request*/,
                           v1beta1::DevicePluginOptions& response) {
  response.set_get_preferred_allocation_available(true);
  return grpc::Status::OK;
}

grpc::Status AnswerPreStart(const PluginState& /*state*/,
                            const v1beta1::PreStartContainerRequest& /*request*/,
                            v1beta1::PreStartContainerResponse& /*response*/) {
  return grpc::Status::OK;
}

grpc::Status AnswerAllocate(const PluginState& state, const v1beta1::AllocateRequest& request,
                            v1beta1::AllocateResponse& response) {
  for (const v1beta1::ContainerAllocateRequest& container : request.container_requests()) {
    const std::vector<std::string> ids(container.devices_ids().begin(),
                                       container.devices_ids().end());
    const Result<AllocateAnswer> answer = state.allocate(ids);
    if (!answer) return {grpc::StatusCode::UNKNOWN, answer.error().message()};
    *response.add_container_responses() = ToMessage(*answer);
  }
  return grpc::Status::OK;
}

grpc::Status AnswerPreferred(const PluginState& state,
                             const v1beta1::PreferredAllocationRequest& request,
                             v1beta1::PreferredAllocationResponse& response) {
  for (const v1beta1::ContainerPreferredAllocationRequest& container :
       request.container_requests()) {
    v1beta1::ContainerPreferredAllocationResponse& entry = *response.add_container_responses();
    for (const std::string& id : state.prefer(FromMessage(container))) entry.add_deviceids(id);
  }
  return grpc::Status::OK;
}

}  // namespace

PluginService::PluginService(std::shared_ptr<const PluginState> state,
                             std::function<void()> on_streams)
    : on_streams_(std::move(on_streams)), state_(std::move(state)) {
  constexpr int kLargestMessage = 1 << 20;
  grpc::ServerBuilder builder;
  builder.RegisterService(&service_);
  builder.SetMaxReceiveMessageSize(kLargestMessage);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CHANNEL_TRACE_EVENT_MEMORY_PER_NODE, 0);
  grpc::ResourceQuota quota("device plugin");
  quota.Resize(size_t{8} << 20);
  builder.SetResourceQuota(quota);
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  {
    const std::scoped_lock lock(mutex_);
    AwaitCalls();
  }
  thread_ = std::thread([queue = queue_.get()] {
    void* tag = nullptr;
    bool ok = false;
    while (queue->Next(&tag, &ok)) static_cast<Completion*>(tag)->Done(ok);
  });
}

void PluginService::AwaitCalls() {
  using Service = v1beta1::DevicePlugin::AsyncService;
  UnaryCall<v1beta1::Empty, v1beta1::DevicePluginOptions>::Start(
      *this, &Service::RequestGetDevicePluginOptions, &AnswerOptions);
  UnaryCall<v1beta1::PreferredAllocationRequest, v1beta1::PreferredAllocationResponse>::Start(
      *this, &Service::RequestGetPreferredAllocation, &AnswerPreferred);
  UnaryCall<v1beta1::AllocateRequest, v1beta1::AllocateResponse>::Start(
      *this, &Service::RequestAllocate, &AnswerAllocate);
  UnaryCall<v1beta1::PreStartContainerRequest, v1beta1::PreStartContainerResponse>::Start(
      *this, &Service::RequestPreStartContainer, &AnswerPreStart);
  WatchCall::Start(*this);
}

void PluginService::Serve(FileDescriptor connection) {
  grpc::AddInsecureChannelFromFd(server_.get(), connection.Release());
}

std::shared_ptr<const PluginState> PluginService::State() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

void PluginService::Publish(std::shared_ptr<const PluginState> state) {
  const std::scoped_lock lock(mutex_);
  state_ = std::move(state);
  for (WatchCall* stream : streams_) stream->Advance();
}

size_t PluginService::Streams() const {
  const std::scoped_lock lock(mutex_);
  return streams_.size();
}

void PluginService::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    for (WatchCall* stream : streams_) stream->Advance();
  }
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(400));
  queue_->Shutdown();
  thread_.join();
}

}  // namespace pawl::node
