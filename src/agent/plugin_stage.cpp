#include "agent/plugin_stage.h"

#include <algorithm>

#include "agent/decide/preferred.h"
#include "base/files.h"

namespace pawl::agent {
namespace {

constexpr std::string_view kResource = "nvidia.com/gpu";
constexpr Duration kRetry = 5s;

node::RegisteredPluginOptions PluginOptions(const AgentOptions& options) {
  node::RegisteredPluginOptions plugin;
  plugin.folder = options.kubelet_dir + "/device-plugins";
  plugin.endpoint = EndpointOf(kResource);
  plugin.resource = kResource;
  return plugin;
}

// A GPU in MIG mode is no device of the resource unless MIG is to be ignored
// (spec/device-plugin.md §6).
bool IsOffered(const gpu::Gpu& gpu, MigStrategy strategy) {
  return strategy == MigStrategy::kNone || !gpu.mig_enabled.value_or(false);
}

AllocatableDevices DevicesOf(const AgentOptions& options, const Board& board) {
  AllocatableDevices devices;
  devices.resource = kResource;
  if (board.driver) {
    devices.dev_root = board.driver->host_dev;
    for (const char* path :
         {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"}) {
      if (Exists(Under(board.driver->view_dev, path))) devices.control_nodes.emplace_back(path);
    }
  }
  for (const gpu::Gpu& gpu : board.snapshot.gpus) {
    if (!IsOffered(gpu, options.mig_strategy)) continue;
    devices.by_id[gpu.uuid] =
        AllocatableDevice{std::to_string(gpu.index), {"/dev/nvidia" + std::to_string(gpu.minor)}};
  }
  return devices;
}

}  // namespace

std::string EndpointOf(std::string_view resource) {
  return "nvidia-" + std::string(resource.substr(resource.find('/') + 1)) + ".sock";
}

std::shared_ptr<const node::PluginState> PluginStateOf(const AgentOptions& options,
                                                       const Board& board) {
  auto state = std::make_shared<node::PluginState>();
  for (const gpu::Gpu& gpu : board.snapshot.gpus) {
    if (!IsOffered(gpu, options.mig_strategy)) continue;
    state->devices.push_back(
        {gpu.uuid, gpu.usable() && board.cdi_devices.contains(gpu.uuid), gpu.numa_node});
  }
  state->allocate = [rules = options.allocation,
                     devices = DevicesOf(options, board)](const std::vector<std::string>& ids) {
    return AnswerAllocate(rules, devices, ids, NewUuid());
  };
  state->prefer = [preference = std::make_shared<const AlignedPreference>(board.snapshot)](
                      const node::PreferredQuestion& question) {
    return preference->Choose(question.available, question.required, question.size);
  };
  return state;
}

PluginStage::PluginStage(const Executor& executor, const AgentOptions& options, Board& board,
                         ValidationFiles& files)
    : executor_(executor),
      options_(options),
      board_(board),
      files_(files),
      plugin_(executor, PluginOptions(options)) {
  plugin_.on_change = [this] { board_.changed(Topic::kKubelet); };
}

Task<Outcome> PluginStage::Run() {
  Outcome outcome = Offer();
  const Status marked = outcome.state == StageState::kReady ? files_.Set("plugin-ready", "")
                                                            : files_.Clear("plugin-ready");
  if (board_.registered != plugin_.registered()) {
    board_.registered = plugin_.registered();
    board_.changed(Topic::kPlugin);
  }
  if (!marked) co_return Outcome::Failed("ValidationFile", marked.error().message(), kRetry);
  co_return outcome;
}

Outcome PluginStage::Offer() {
  if (!begun_ && !MayBegin()) {
    return Outcome::Waiting("NoDevice", board_.snapshot.gpus.empty()
                                            ? "no GPU is known yet"
                                            : "no GPU can be given to a container yet");
  }
  Publish();
  if (devices_ == 0) {
    return Outcome::Waiting("NoDevice", board_.snapshot.gpus.empty() ? "there is no GPU any more"
                                                                     : "every GPU is in MIG mode");
  }
  if (!begun_) {
    begun_ = true;
    Spawn(executor_, "device plugin", plugin_.Run());
  }
  if (!plugin_.registered()) {
    return Outcome::Waiting("KubeletNotRegistered", plugin_.trouble());
  }
  return Outcome::Ready(std::string(kResource) + ": " + std::to_string(board_.healthy_devices) +
                        " of " + std::to_string(devices_) + " devices healthy");
}

// A first list in which nothing is healthy would only be corrected at once. Where no GPU works there
// is nothing better to wait for.
bool PluginStage::MayBegin() const {
  if (board_.snapshot.gpus.empty()) return false;
  if (!board_.cdi_devices.empty()) return true;
  return std::none_of(board_.snapshot.gpus.begin(), board_.snapshot.gpus.end(),
                      [](const gpu::Gpu& gpu) { return gpu.usable(); });
}

void PluginStage::Publish() {
  const std::shared_ptr<const node::PluginState> state = PluginStateOf(options_, board_);
  devices_ = state->devices.size();
  size_t healthy = 0;
  for (const node::PluginDevice& device : state->devices) healthy += device.healthy ? 1 : 0;
  if (healthy != board_.healthy_devices) {
    board_.healthy_devices = healthy;
    board_.changed(Topic::kPlugin);
  }
  if (begun_ || devices_ > 0) plugin_.Publish(state);
}

void PluginStage::Stop() {
  (void)files_.Clear("plugin-ready");
  plugin_.Stop();
}

}  // namespace pawl::agent
