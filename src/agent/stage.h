// A stage of the chain that makes a node GPU-ready (design: "Node flow"), and the board on which
// stages see each other's findings. Each stage runs in a coroutine of its own, again whenever one
// of its inputs changes; it never waits for another stage, it says what it waits for.
//
//   driver ─> toolkit ─> cdi ─> plugin ─> validated
//      └─────────> discovery ──────────────┘
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decide/chain.h"
#include "agent/driver_root.h"
#include "agent/own_node.h"
#include "base/task.h"
#include "gpu/model.h"

namespace pawl::agent {

// What may change on the board.
enum class Topic { kGpus, kToolkit, kCdi, kPlugin, kDiscovery, kKubelet, kNode, kChain };

// What one stage found out and another needs. Belongs to the loop.
class Board {
 public:
  // driver: what is known of the GPUs; a GPU's problem says that it cannot be used now.
  std::optional<DriverRoot> driver;
  gpu::Snapshot snapshot;
  bool driver_answers = false;  // the driver works now; else the snapshot is the last that is known

  bool toolkit_ready = false;         // toolkit: the hooks that CDI names are on the host
  std::set<std::string> cdi_devices;  // cdi: UUIDs that a container can be given
  size_t healthy_devices = 0;         // plugin: those that kubelet may hand out
  bool registered = false;            // plugin

  // The Node object as the API server has it; null before it was read, and without Kubernetes.
  std::shared_ptr<const OwnNode> node;

  Chain chain;

  // Tells everybody whose input it is.
  std::function<void(Topic)> changed = [](Topic) {};
};

struct Outcome {
  StageState state = StageState::kWaiting;
  std::string reason;             // a word; empty when ready
  std::string evidence;           // a sentence for people
  std::optional<Duration> again;  // run again after this, even if no input changes

  static Outcome Ready(std::string evidence);
  static Outcome Waiting(std::string reason, std::string evidence);
  static Outcome Failed(std::string reason, std::string evidence, Duration retry);
  Outcome&& After(Duration duration) &&;
};

class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::string_view name() const = 0;
  virtual std::vector<Topic> inputs() const = 0;

  // Moves the node towards what is wanted, as far as it goes now.
  virtual Task<Outcome> Run() = 0;

  // The agent ends: lets go of what others would miss. Must not take long.
  virtual void Stop() {}
};

}  // namespace pawl::agent
