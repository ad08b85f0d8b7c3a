// What the agent decides: labels and the preferred allocation.
#include <vector>

#include "agent/decide/labels.h"
#include "agent/decide/preferred.h"
#include "bench/budget.h"

namespace pawl::bench {
namespace {

void LabelComputation(benchmark::State& state) {
  agent::LabelInput input;
  input.snapshot = FourT4();
  input.machine_type = "PowerEdge R740";
  input.gpu_mode = "compute";
  Latencies latencies(state, 5.0);
  for (auto _ : state) {
    latencies.Time([&input] { benchmark::DoNotOptimize(agent::ComputeLabels(input)); });
  }
}
BENCHMARK(LabelComputation)->Unit(benchmark::kMillisecond);

void PreferredFourOfEightWithNvlink(benchmark::State& state) {
  const gpu::Snapshot snapshot = EightWithNvlink();
  const agent::AlignedPreference preference(snapshot);
  std::vector<std::string> available;
  for (const gpu::Gpu& gpu : snapshot.gpus) available.push_back(gpu.uuid);
  Latencies latencies(state, 0.4);
  for (auto _ : state) {
    latencies.Time([&] { benchmark::DoNotOptimize(preference.Choose(available, {}, 4)); });
  }
}
BENCHMARK(PreferredFourOfEightWithNvlink)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pawl::bench
