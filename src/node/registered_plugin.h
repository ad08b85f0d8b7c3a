// Keeps one resource offered to kubelet, whatever kubelet does (spec/device-plugin.md §2, "Do
// better"): serves first and then registers; registers again when kubelet makes its socket anew or
// stops following our list; serves again when our own socket is deleted or replaced. Woken by
// changes in kubelet's folder, and by a slow poll in case one was missed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/folder_watch.h"
#include "base/result.h"
#include "base/task.h"
#include "node/device_plugin.h"

namespace pawl::node {

struct RegisteredPluginOptions {
  std::string folder;    // kubelet's: /var/lib/kubelet/device-plugins
  std::string endpoint;  // our socket's name in it: "nvidia-gpu.sock"
  std::string resource;  // "nvidia.com/gpu"

  Duration register_deadline = 15s;  // kubelet dials back for up to 10 s
  Duration poll = 10s;
  Duration first_backoff = 200ms;  // after a failed registration; doubles …
  Duration last_backoff = 10s;     // … up to this
};

class RegisteredPlugin {
 public:
  RegisteredPlugin(const Executor& executor, RegisteredPluginOptions options);
  RegisteredPlugin(const RegisteredPlugin&) = delete;
  RegisteredPlugin& operator=(const RegisteredPlugin&) = delete;

  // Called on the loop after registered() or trouble() changed.
  std::function<void()> on_change;

  // The state from now on. Nothing is served before the first, so that the first list that kubelet
  // sees is a whole one.
  void Publish(std::shared_ptr<const PluginState> state);

  // Works until Stop. Run it once, by Spawn; this must outlive the loop's run.
  Task<> Run();

  // Ends serving, takes at most half a second, and makes Run return.
  void Stop();

  bool registered() const { return registered_; }
  const std::string& trouble() const { return trouble_; }    // why not; empty when registered
  uint64_t registrations() const { return registrations_; }  // successful ones, so far

 private:
  // A socket file: made anew it has another identity, even where the inode is used again.
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t changed_nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  static std::optional<Identity> IdentityOf(const std::string& path);

  Task<Duration> Step();
  bool Serve();
  bool KubeletHasLeft();
  void Unregistered(std::string trouble);
  Duration BackOff();
  Task<> WatchFolder();
  void Consider(const FolderChange& change);
  std::string KubeletSocket() const { return options_.folder + "/kubelet.sock"; }

  Executor executor_;
  RegisteredPluginOptions options_;
  Event wake_;
  Event folder_retry_;
  std::shared_ptr<const PluginState> state_;
  std::unique_ptr<DevicePluginServer> server_;
  std::optional<FolderWatch> watch_;
  bool stopping_ = false;
  bool registered_ = false;
  std::string trouble_ = "not begun";
  Identity kubelet_;                      // that we are registered with
  std::optional<Time> unfollowed_since_;  // registered, but no stream is open
  std::optional<Duration> backoff_;       // the last one
  uint64_t registrations_ = 0;
};

}  // namespace pawl::node
