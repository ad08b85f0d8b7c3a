// One call of kubelet's Registration.Register (spec/device-plugin.md §1). Kubelet dials back and
// asks for the options before it answers, which may take it 10 s.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "base/task.h"
#include "node/deviceplugin.grpc.pb.h"
#include "node/plugin_service.h"

namespace pawl::node {

class KubeletRegistration final : public Completion,
                                  public std::enable_shared_from_this<KubeletRegistration> {
 public:
  // Connects and sends the request. kNotFound or kUnavailable when kubelet is not there.
  static Result<std::shared_ptr<KubeletRegistration>> Start(
      const Executor& executor, grpc::CompletionQueue& queue, const std::string& kubelet_socket,
      const std::string& endpoint, const std::string& resource, Duration deadline);

  Task<Status> Wait();

  // Ends the call soon with kCancelled. From any thread.
  void Cancel() { context_.TryCancel(); }

  void Done(bool ok) override;

 private:
  KubeletRegistration(const Executor& executor, std::string what)
      : executor_(executor), what_(std::move(what)), answered_(executor) {}

  Executor executor_;
  std::string what_;
  Event answered_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1beta1::Registration::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1beta1::Empty>> reader_;
  v1beta1::Empty response_;
  grpc::Status status_;
  std::shared_ptr<KubeletRegistration> self_;  // while gRPC has our tag
};

}  // namespace pawl::node
