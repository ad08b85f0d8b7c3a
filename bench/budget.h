// Latencies of single calls: Google Benchmark's loop, the median and the 95th percentile, and the
// budget beside them.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <vector>

#include "gpu/model.h"

namespace pawl::bench {

// Records each call of a benchmark's loop and reports p50 and p95 in milliseconds with the budget
// of the p50.
class Latencies {
 public:
  Latencies(benchmark::State& state, double budget_ms) : state_(state), budget_ms_(budget_ms) {}
  ~Latencies();
  Latencies(const Latencies&) = delete;
  Latencies& operator=(const Latencies&) = delete;

  template <typename Call>
  void Time(Call&& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const auto end = std::chrono::steady_clock::now();
    taken_ms_.push_back(std::chrono::duration<double, std::milli>(end - start).count());
  }

 private:
  benchmark::State& state_;
  double budget_ms_;
  std::vector<double> taken_ms_;
};

// The folder of the stand-ins of `profile`, made by the target `testing`.
std::string DriverRoot(const std::string& profile);

// Eight GPUs in two halves, each half fully connected by NVLink, PCIe scores by socket.
gpu::Snapshot EightWithNvlink();

// Four T4, as testing/profiles/t4x4.yaml has them.
gpu::Snapshot FourT4();

}  // namespace pawl::bench
