#include "agent/discovery_stage.h"

#include <chrono>

#include "agent/discover.h"
#include "base/files.h"
#include "base/log.h"

namespace pawl::agent {
namespace {

constexpr Duration kRetry = 5s;

}  // namespace

DiscoveryStage::DiscoveryStage(const AgentOptions& options, Board& board, NodeLink* link)
    : options_(options), board_(board), link_(link) {
  if (options.timestamp) {
    timestamp_ = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  }
}

Task<Outcome> DiscoveryStage::Run() {
  if (!board_.driver_answers) {
    co_return Outcome::Waiting("DriverNotReady",
                               published_ ? "the last labels stay" : "no GPU has been read yet");
  }
  Labels wanted = Compute();
  if (link_ == nullptr) {
    co_return Outcome::Ready(std::to_string(wanted.size()) + " labels, without Kubernetes");
  }
  if (!board_.node) {
    co_return Outcome::Waiting(
        "NodeNotRead", "node " + options_.node_name + " has not been read from the API server yet");
  }
  Task<Outcome> publish = Publish(std::move(wanted));
  co_return co_await std::move(publish);
}

// Computed when the GPUs changed, else as before. Also to the file, for people and for scripts.
Labels DiscoveryStage::Compute() {
  if (computed_from_ == board_.snapshot) return computed_;
  DiscoverOptions options;
  options.root = options_.host_root;
  options.mig_strategy = options_.mig_strategy;
  options.timestamp = timestamp_;
  options.machine_type_file = options_.machine_type_file;
  ComputedLabels computed = DiscoverLabels(board_.snapshot, options);
  for (const std::string& problem : computed.problems) {
    log::Warning("a label is left out", {{"problem", problem}});
  }
  computed_ = std::move(computed.labels);
  computed_from_ = board_.snapshot;
  const Result<Written> written =
      WriteFileAtomic(options_.run_dir + "/pawl/labels", LabelFile(computed_));
  if (!written) log::Warning("the labels' file was not written", {{"error", written.error()}});
  return computed_;
}

Task<Outcome> DiscoveryStage::Publish(Labels wanted) {
  const Labels ours = LabelsToWrite(wanted, board_.node.get());
  const std::string evidence = std::to_string(ours.size()) + " labels on the node";
  const Duration since = std::chrono::steady_clock::now() - published_at_;
  if (published_ == ours) {
    if (!LabelsDiffer(ours, *board_.node)) co_return Outcome::Ready(evidence);
    if (since < options_.between_writes) {
      co_return Outcome::Ready(evidence).After(options_.between_writes - since);
    }
    log::Warning("labels of this node were changed by somebody and are written again");
  }
  Task<Status> call = link_->ApplyLabels(ours);
  const Status applied = co_await std::move(call);
  if (!applied) {
    co_return Outcome::Failed("LabelsNotWritten", applied.error().message(), kRetry);
  }
  published_ = ours;
  published_at_ = std::chrono::steady_clock::now();
  co_return Outcome::Ready(evidence).After(options_.between_writes);
}

}  // namespace pawl::agent
