// The gRPC side of DevicePluginServer: one completion queue and one thread that waits on it. The
// callback interface of gRPC 1.51 would start up to 16 threads that wake up every second.
#pragma once

#include <grpcpp/completion_queue.h>
#include <grpcpp/server.h>

#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/files.h"
#include "node/device_plugin.h"
#include "node/deviceplugin.grpc.pb.h"

namespace pawl::node {

// What a tag of the completion queue points to. Done is called on the queue's thread.
class Completion {
 public:
  virtual ~Completion() = default;
  virtual void Done(bool ok) = 0;
};

inline void* Tag(Completion& completion) { return &completion; }

class WatchCall;

class PluginService {
 public:
  // `on_streams` is called on the queue's thread after a stream opened or ended.
  PluginService(std::shared_ptr<const PluginState> state, std::function<void()> on_streams);
  ~PluginService() { Stop(); }
  PluginService(const PluginService&) = delete;
  PluginService& operator=(const PluginService&) = delete;

  // Serves an accepted, non-blocking connection.
  void Serve(FileDescriptor connection);

  void Publish(std::shared_ptr<const PluginState> state);
  size_t Streams() const;

  // For calls to others, whose completions come on the same thread. They must be cancelled before
  // Stop.
  grpc::CompletionQueue& queue() { return *queue_; }

  void Stop();

 private:
  friend class WatchCall;
  template <typename Request, typename Response>
  friend class UnaryCall;

  std::shared_ptr<const PluginState> State() const;
  void AwaitCalls();

  v1beta1::DevicePlugin::AsyncService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
  std::function<void()> on_streams_;

  mutable std::mutex mutex_;  // everything below, and the states of the streams
  std::shared_ptr<const PluginState> state_;
  std::set<WatchCall*> streams_;
  bool stopping_ = false;
};

}  // namespace pawl::node
