// A CDI specification from the stand-in's driver root, written out as JSON.
#include "bench/budget.h"
#include "cdi/generate/generate.h"
#include "cdi/model/write.h"

namespace pawl::bench {
namespace {

void CdiGeneration(benchmark::State& state) {
  cdi::GenerateOptions options;
  options.driver = {.host = "/", .view = DriverRoot("t4x4")};
  options.read_node = [](const std::string& path) -> std::optional<cdi::NodeFacts> {
    return cdi::NodeFacts{195, static_cast<int64_t>(path.size()), 0666, 0};
  };
  const gpu::Snapshot snapshot = FourT4();
  Latencies latencies(state, 6.0);
  for (auto _ : state) {
    bool made = false;
    latencies.Time([&] { made = cdi::GenerateSpec(snapshot, options).has_value(); });
    if (!made) {
      state.SkipWithError("no specification: build the target `testing` first");
      return;
    }
  }
}
BENCHMARK(CdiGeneration)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pawl::bench
