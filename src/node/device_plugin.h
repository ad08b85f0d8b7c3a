// Kubelet's device plugin API (v1beta1, spec/device-plugin.md §1) in plain values: a gRPC server
// for one resource on a unix socket, and the registration with kubelet. Knows nothing of GPUs.
//
// Kubelet is answered on a thread of gRPC's own, from an immutable state that the loop publishes:
// whatever the loop is doing, kubelet never waits for it. An answer is a pure function of that
// state.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"

namespace pawl::node {

struct PluginDevice {
  std::string id;                // at most 63 characters
  bool healthy = true;           // an unhealthy device counts in capacity, not in allocatable
  std::optional<int> numa_node;  // absent: no topology is told

  bool operator==(const PluginDevice&) const = default;
};

struct PluginMount {
  std::string container_path;
  std::string host_path;
  bool read_only = false;
};

struct PluginDeviceNode {
  std::string container_path;
  std::string host_path;
  std::string permissions;  // letters of "rwm"
};

// What one container gets. Kubelet keeps it in a checkpoint and uses it again whenever the
// container restarts: paths and names must stay valid.
struct AllocateAnswer {
  std::map<std::string, std::string> envs;
  std::vector<PluginMount> mounts;
  std::vector<PluginDeviceNode> devices;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> cdi_devices;  // qualified CDI names, "vendor/class=device"
};

struct PreferredQuestion {
  std::vector<std::string> available;
  std::vector<std::string> required;  // part of `available`
  int size = 0;
};

// Everything that kubelet is answered from. The functions are called on gRPC's thread: they may
// touch only what they hold themselves, and that must not change.
struct PluginState {
  std::vector<PluginDevice> devices;  // the whole list, always

  // The answer for one container; an error refuses the container.
  std::function<Result<AllocateAnswer>(const std::vector<std::string>& ids)> allocate;

  // Advice; empty leaves the choice to kubelet. It cannot fail, since an error would fail the
  // admission of the pod.
  std::function<std::vector<std::string>(const PreferredQuestion& question)> prefer;
};

// The server of one resource. Belongs to the loop's thread.
class DevicePluginServer {
 public:
  // Listens on `socket_path`; a socket left there by an earlier process is replaced. kInvalid when
  // the path is too long for a unix socket.
  static Result<std::unique_ptr<DevicePluginServer>> Start(
      const Executor& executor, const std::string& socket_path,
      std::shared_ptr<const PluginState> state);

  // Stops.
  ~DevicePluginServer();
  DevicePluginServer(const DevicePluginServer&) = delete;
  DevicePluginServer& operator=(const DevicePluginServer&) = delete;

  // The state from now on. Every open ListAndWatch stream is sent the list where it changed.
  void Publish(std::shared_ptr<const PluginState> state);

  // Tells kubelet about this server: Register on `kubelet_socket` with the socket's base name as
  // the endpoint. Kubelet calls back before it answers. The server must outlive the wait.
  Task<Status> Register(std::string kubelet_socket, std::string resource, Duration deadline);

  // False when somebody removed or replaced our socket file; kubelet does when it starts.
  bool SocketIsOurs() const;

  // Open ListAndWatch streams; 0 means that kubelet does not follow our list.
  size_t Streams() const;

  // Called on the loop after a stream opened or ended.
  void SetOnStreams(std::function<void()> on_streams);

  // Ends all streams, closes, and removes the socket if it is still ours. Takes at most half a
  // second, also when a client does not read.
  void Stop();

 private:
  class Impl;
  explicit DevicePluginServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace pawl::node
