#include "scout/scout.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "kube/object.h"
#include "scout/sources.h"

namespace pawl::scout {
namespace {

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 30s;

}  // namespace

Scout::Scout(const Executor& executor, kube::Client& client, ScoutOptions options)
    : executor_(executor),
      client_(client),
      options_(std::move(options)),
      wake_(executor),
      node_([manager = client.field_manager()](
                const json::value& object) { return ParseOwnNode(object, manager); },
            [this](const auto&) { wake_.Notify(); }),
      watch_(client, kube::OneObject(kube::kNodes, "", options_.node_name), node_) {}

Task<> Scout::Run() {
  Spawn(executor_, "watch own node", watch_.Run());
  Spawn(executor_, "uevents", Listen());
  while (!stopping_) {
    const Duration pause = co_await Look();
    if (stopping_) break;
    co_await wake_.WaitFor(pause);
  }
}

void Scout::Stop() {
  stopping_ = true;
  watch_.Stop();
  if (uevents_) uevents_->Close();
  wake_.Notify();
}

Task<> Scout::Listen() {
  Result<Uevents> opened = Uevents::Open(executor_);
  if (!opened) {
    log::Warning("new hardware is seen once a minute only", {{"error", opened.error()}});
    co_return;
  }
  uevents_.emplace(std::move(*opened));
  while (!stopping_) {
    const Status heard = co_await uevents_->Next();
    if (!heard) {
      if (heard.error().kind() != ErrorKind::kCancelled) {
        log::Warning("new hardware is seen once a minute only", {{"error", heard.error()}});
      }
      co_return;
    }
    wake_.Notify();
  }
}

Task<Duration> Scout::Look() {
  std::vector<std::string> problems;
  const std::vector<Source> sources = ReadSources(options_.host_root, options_.proc_root, problems);
  if (std::string now = Join(problems, "; "); now != problem_) {
    problem_ = std::move(now);
    if (!problem_.empty()) {
      log::Warning("part of the machine cannot be read; its labels stay", {{"error", problem_}});
    }
  }
  const kube::Store<OwnNode>::Pointer node = node_.Get({"", options_.node_name});
  if (node == nullptr) co_return options_.interval;  // its watch wakes us
  Labels wanted = WantedLabels(sources, *node);
  if (AreThere(wanted, *node)) {
    pause_ = Duration::zero();
    if (!std::exchange(settled_, true)) ReleaseStartupMemory();
    co_return options_.interval;
  }
  // Somebody else writes other values. Both of us at full speed would be a load on the API server.
  const Duration since = std::chrono::steady_clock::now() - written_at_;
  if (wanted == written_ && since < options_.between_writes) {
    co_return options_.between_writes - since;
  }
  const Status published = co_await Publish(wanted);
  if (published) {
    pause_ = Duration::zero();
    written_ = std::move(wanted);
    written_at_ = std::chrono::steady_clock::now();
    co_return options_.interval;
  }
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  log::Warning("the labels cannot be written", {{"error", published.error()}});
  co_return pause_;
}

Task<Status> Scout::Publish(Labels labels) {
  json::object texts;
  for (const auto& [key, value] : labels) texts[key] = value;
  json::object object = kube::NewObject(kube::kNodes, "", options_.node_name);
  object["metadata"].as_object()["labels"] = std::move(texts);
  const json::value body = std::move(object);
  const kube::WriteOptions options;
  const Result<json::value> node = co_await client_.Apply(kube::kNodes, body, options);
  if (!node) co_return Fail(node.error());
  node_.TakeAnswer(*node);
  log::Info("labels written", {{"node", options_.node_name}, {"labels", labels.size()}});
  co_return Status();
}

}  // namespace pawl::scout
