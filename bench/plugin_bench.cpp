// What kubelet waits for: Allocate and GetPreferredAllocation over the plugin's socket, as the
// agent serves them.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/plugin_stage.h"
#include "base/run_task.h"
#include "base/temporary_folder.h"
#include "bench/budget.h"
#include "node/device_plugin.h"
#include "node/fake_kubelet.h"

namespace pawl::bench {
namespace {

// A plugin with these GPUs, registered with a kubelet.
class ServedPlugin {
 public:
  explicit ServedPlugin(gpu::Snapshot snapshot) : kubelet_(folder_.path()) {
    agent::Board board;
    board.snapshot = std::move(snapshot);
    for (const gpu::Gpu& gpu : board.snapshot.gpus) {
      board.cdi_devices.insert(gpu.uuid);
      ids_.push_back(gpu.uuid);
    }
    const agent::AgentOptions options;
    auto server =
        node::DevicePluginServer::Start(loop_.get_executor(), folder_.Path("nvidia-gpu.sock"),
                                        agent::PluginStateOf(options, board));
    if (!server) return;
    server_ = std::move(*server);
    ready_ =
        RunTask(loop_, server_->Register(kubelet_.SocketPath(), "nvidia.com/gpu", 10s)).has_value();
  }

  bool ready() const { return ready_; }
  node::FakeKubelet& kubelet() { return kubelet_; }
  const std::vector<std::string>& ids() const { return ids_; }

 private:
  TemporaryFolder folder_;
  asio::io_context loop_;
  node::FakeKubelet kubelet_;
  std::unique_ptr<node::DevicePluginServer> server_;
  std::vector<std::string> ids_;
  bool ready_ = false;
};

void Allocate(benchmark::State& state) {
  ServedPlugin plugin(FourT4());
  bool well = plugin.ready();
  Latencies latencies(state, 0.2);
  for (auto _ : state) {
    latencies.Time(
        [&] { well = well && plugin.kubelet().Allocate({plugin.ids()[1]}).has_value(); });
  }
  if (!well) state.SkipWithError("Allocate failed");
}
BENCHMARK(Allocate)->Unit(benchmark::kMillisecond)->UseRealTime();

void GetPreferredAllocationFourOfEight(benchmark::State& state) {
  ServedPlugin plugin(EightWithNvlink());
  bool well = plugin.ready();
  Latencies latencies(state, 0.4);
  for (auto _ : state) {
    latencies.Time([&] {
      const auto chosen = plugin.kubelet().Preferred(plugin.ids(), {}, 4);
      well = well && chosen && chosen->size() == 4;
    });
  }
  if (!well) state.SkipWithError("GetPreferredAllocation failed");
}
BENCHMARK(GetPreferredAllocationFourOfEight)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace pawl::bench
