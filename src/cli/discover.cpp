// `pawl discover`: the labels that describe this machine's GPUs, as a file or on standard output
// (spec/feature-discovery.md §2, §9.1). Flags and variables have gpu-feature-discovery's names.
#include "agent/discover.h"

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "agent/decide/labels.h"
#include "base/files.h"
#include "base/log.h"
#include "base/run_task.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "gpu/worker_client.h"

namespace pawl::cli {
namespace {

struct Flags {
  bool oneshot = false;
  bool timestamp = false;
  bool no_timestamp = false;
  bool fail_on_init_error = true;
  std::string output_file;
  std::string mig_strategy = "none";
  std::string machine_type_file = "/sys/class/dmi/id/product_name";
  std::string root = "/";
  double sleep_seconds = 60;
};

Status Write(const std::string& path, const std::string& text) {
  if (path.empty()) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
      return Fail(Error::FromErrno("writing to standard output"));
    }
    return {};
  }
  const Result<Written> written = WriteFileAtomic(path, text);
  if (!written) return Fail(written.error());
  return {};
}

// The GPUs of this machine; none, with a word about it, where that is allowed.
Task<Result<gpu::Snapshot>> ReadGpus(const Flags& flags) {
  gpu::NvmlWorkerOptions options;
  options.command = {"/proc/self/exe", "nvml"};
  options.environment = WholeEnvironment();
  options.root = flags.root;
  Result<gpu::Snapshot> snapshot = co_await gpu::TakeSnapshotOnce(std::move(options));
  if (snapshot || flags.fail_on_init_error) co_return snapshot;
  log::Warning("NVML cannot be used", {{"error", snapshot.error()}});
  co_return gpu::Snapshot{};
}

Task<Status> DiscoverOnce(const Flags& flags, std::optional<int64_t> timestamp) {
  const auto strategy = agent::ParseMigStrategy(flags.mig_strategy);
  if (!strategy) co_return Fail(strategy.error());
  const Result<gpu::Snapshot> snapshot = co_await ReadGpus(flags);
  if (!snapshot) co_return Fail(snapshot.error());
  agent::DiscoverOptions options;
  options.root = flags.root;
  options.mig_strategy = *strategy;
  options.timestamp = timestamp;
  options.machine_type_file = flags.machine_type_file;
  const agent::ComputedLabels computed = agent::DiscoverLabels(*snapshot, options);
  for (const std::string& problem : computed.problems) {
    log::Warning("a label is left out", {{"problem", problem}});
  }
  co_return Write(flags.output_file, agent::LabelFile(computed.labels));
}

std::optional<int64_t> Timestamp(const Flags& flags) {
  if (!flags.timestamp || flags.no_timestamp) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Tell(const Status& done) {
  if (!done) log::Failure("no labels", {{"error", done.error()}});
}

// What was published before stays while it fails.
Task<> DiscoverAgainAndAgain(const Flags& flags) {
  const std::optional<int64_t> timestamp = Timestamp(flags);
  const auto pause =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(flags.sleep_seconds));
  while (true) {
    const Status done = co_await DiscoverOnce(flags, timestamp);
    Tell(done);
    co_await Sleep(pause);
  }
}

int Discover(const Flags& flags) {
  asio::io_context loop(1);
  if (flags.oneshot) {
    const Status done = RunTask(loop, DiscoverOnce(flags, Timestamp(flags)));
    Tell(done);
    return done ? 0 : 1;
  }
  // Also amid a reading: ending the worker waits for nothing.
  asio::signal_set signals(loop, SIGTERM, SIGINT, SIGQUIT);
  signals.async_wait([&loop](const boost::system::error_code& error, int number) {
    if (error) return;
    log::Info("stopping", {{"signal", number}});
    loop.stop();
  });
  Spawn(loop.get_executor(), "discover", DiscoverAgainAndAgain(flags));
  loop.run();
  return 0;
}

}  // namespace

void AddDiscover(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("discover", "The labels of this machine's GPUs");
  command->add_flag("--oneshot", flags->oneshot, "Once, then end")->envname("GFD_ONESHOT");
  command
      ->add_option("-o,--output,--output-file", flags->output_file,
                   "Where to; standard output without")
      ->envname("GFD_OUTPUT_FILE");
  command->add_flag("--timestamp", flags->timestamp, "With the label gfd.timestamp");
  command->add_flag("--no-timestamp", flags->no_timestamp, "Without it, whatever else is given")
      ->envname("GFD_NO_TIMESTAMP");
  command->add_option("--mig-strategy", flags->mig_strategy, "none, single or mixed")
      ->envname("MIG_STRATEGY");
  command
      ->add_option("--machine-type-file", flags->machine_type_file,
                   "For the machine's label, below the root")
      ->envname("GFD_MACHINE_TYPE_FILE");
  command
      ->add_option("--fail-on-init-error", flags->fail_on_init_error,
                   "Whether to fail without NVML; else there are no labels of GPUs")
      ->envname("FAIL_ON_INIT_ERROR");
  command->add_option("--sleep-interval", flags->sleep_seconds, "Between two times")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}}))
      ->envname("GFD_SLEEP_INTERVAL");
  command->add_option("--root", flags->root, "Where the host's / is, for sysfs");
  command->callback([flags, &exit_code] { exit_code = Discover(*flags); });
}

}  // namespace pawl::cli
