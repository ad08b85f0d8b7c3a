// A kubelet for tests and benchmarks: serves Registration, and does with a plugin what the real one
// does (spec/device-plugin.md §1): on start it deletes the sockets in its folder and makes its own;
// inside Register it dials back and asks for the options; then it follows ListAndWatch.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "node/device_plugin.h"

namespace pawl::node {

// Runs the loop until `reached` says so; false when it does not within `deadline`.
bool RunUntil(asio::io_context& loop, const std::function<bool()>& reached,
              Duration deadline = 10s);

class FakeKubelet {
 public:
  struct Registration {
    std::string version;
    std::string endpoint;
    std::string resource;
    bool preferred_allocation = false;             // as the plugin said in the request
    bool preferred_allocation_when_asked = false;  // and when kubelet dialled back
  };

  // Serves in `folder`. Aborts the process when it cannot.
  explicit FakeKubelet(std::string folder);

  // Ends all connections. The socket file goes too.
  ~FakeKubelet();
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  std::string SocketPath() const;

  // While true, Register is refused.
  void Refuse(bool refuse);

  std::vector<Registration> Registrations() const;

  // Every list that any stream brought, oldest first.
  std::vector<std::vector<PluginDevice>> Lists() const;
  size_t OpenStreams() const;

  // Ends all streams, as a kubelet that has forgotten its plugins.
  void DropStreams();

  // Of the plugin that registered last; they block.
  Result<AllocateAnswer> Allocate(const std::vector<std::string>& ids);
  Result<std::vector<std::string>> Preferred(const std::vector<std::string>& available,
                                             const std::vector<std::string>& required, int size);
  Status PreStart(const std::vector<std::string>& ids);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::node
