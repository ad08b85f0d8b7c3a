// The compatibility resolver: built-in data ready, one answer.
#include "bench/budget.h"
#include "compat/resolve.h"

namespace pawl::bench {
namespace {

void BuiltInKnowledge(benchmark::State& state) {
  Latencies latencies(state, 5.0);
  bool well = true;
  for (auto _ : state) {
    latencies.Time([&] { well = well && compat::KnowledgeBase::BuiltIn().has_value(); });
  }
  if (!well) state.SkipWithError("the built-in data is damaged");
}
BENCHMARK(BuiltInKnowledge)->Unit(benchmark::kMillisecond);

void OneAnswer(benchmark::State& state) {
  const Result<compat::KnowledgeBase> knowledge = compat::KnowledgeBase::BuiltIn();
  if (!knowledge) {
    state.SkipWithError("the built-in data is damaged");
    return;
  }
  compat::Input input;
  input.gpus = {"1EB8"};
  input.kernel = "5.15.0-113-generic";
  input.os_id = "ubuntu";
  input.os_version = "22.04";
  Latencies latencies(state, 5.0);
  for (auto _ : state) {
    latencies.Time([&] { benchmark::DoNotOptimize(compat::Resolve(*knowledge, input)); });
  }
}
BENCHMARK(OneAnswer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pawl::bench
