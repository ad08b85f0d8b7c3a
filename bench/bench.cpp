#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.h"
#include "bench/budget.h"

namespace pawl::bench {

Latencies::~Latencies() {
  if (taken_ms_.empty()) return;
  std::sort(taken_ms_.begin(), taken_ms_.end());
  const auto at = [this](double share) {
    return taken_ms_[static_cast<size_t>(share * static_cast<double>(taken_ms_.size() - 1))];
  };
  state_.counters["p50_ms"] = at(0.50);
  state_.counters["p95_ms"] = at(0.95);
  state_.counters["budget_ms"] = budget_ms_;
  state_.SetLabel(at(0.50) <= budget_ms_ ? "within budget" : "OVER BUDGET");
}

std::string DriverRoot(const std::string& profile) {
  std::string program(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  program.resize(length > 0 ? static_cast<size_t>(length) : 0);
  const std::string build = program.substr(0, program.rfind("/bin/"));
  return Under(build, "testing/" + profile + "/root");
}

gpu::Snapshot EightWithNvlink() {
  gpu::Snapshot snapshot;
  snapshot.driver_version = "550.163.01";
  snapshot.cuda_version = 12040;
  for (uint32_t i = 0; i < 8; ++i) {
    gpu::Gpu gpu;
    gpu.index = i;
    gpu.minor = i;
    gpu.uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(i);
    gpu.name = "Tesla V100-SXM2-32GB";
    snapshot.gpus.push_back(gpu);
  }
  for (uint32_t a = 0; a < 8; ++a) {
    for (uint32_t b = a + 1; b < 8; ++b) {
      const bool near = a / 4 == b / 4;
      snapshot.links.push_back(
          {a, b, near ? 40 : 10, near ? static_cast<int>(1 + (a + b) % 2) : 0});
    }
  }
  return snapshot;
}

gpu::Snapshot FourT4() {
  gpu::Snapshot snapshot;
  snapshot.driver_version = "550.163.01";
  snapshot.cuda_version = 12040;
  for (uint32_t i = 0; i < 4; ++i) {
    gpu::Gpu gpu;
    gpu.index = i;
    gpu.minor = i;
    gpu.uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(i);
    gpu.name = "Tesla T4";
    gpu.memory_bytes = uint64_t{15360} << 20;
    gpu.compute_major = 7;
    gpu.compute_minor = 5;
    gpu.pci.bus = 0x1b + i;
    snapshot.gpus.push_back(gpu);
  }
  return snapshot;
}

namespace {

// Prints what Google Benchmark prints, and remembers what was over its budget or did not run.
class Judge : public benchmark::ConsoleReporter {
 public:
  Judge() : ConsoleReporter(isatty(STDOUT_FILENO) != 0 ? OO_Defaults : OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.error_occurred) {
        broken_.push_back(run.benchmark_name() + ": " + run.error_message);
        continue;
      }
      const auto median = run.counters.find("p50_ms");
      const auto budget = run.counters.find("budget_ms");
      if (run.run_type != Run::RT_Iteration || median == run.counters.end() ||
          budget == run.counters.end() || median->second.value <= budget->second.value) {
        continue;
      }
      char figures[96];
      std::snprintf(figures, sizeof figures, ": p50 %.3f ms, budget %.3f ms", median->second.value,
                    budget->second.value);
      over_.push_back(run.benchmark_name() + figures);
    }
  }

  // Lists them on stderr and returns the program's exit status.
  int Verdict() const {
    for (const std::string& line : broken_) std::fprintf(stderr, "FAILED       %s\n", line.c_str());
    for (const std::string& line : over_) std::fprintf(stderr, "OVER BUDGET  %s\n", line.c_str());
    if (!broken_.empty()) return 1;
    return over_.empty() ? 0 : 3;
  }

 private:
  std::vector<std::string> over_;
  std::vector<std::string> broken_;
};

}  // namespace
}  // namespace pawl::bench

// Exit status: 0 when all is within budget, 3 when a time is over its budget, 1 when a benchmark
// could not run or an option is wrong.
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  pawl::bench::Judge judge;
  if (benchmark::RunSpecifiedBenchmarks(&judge) == 0) return 1;
  benchmark::Shutdown();
  return judge.Verdict();
}
