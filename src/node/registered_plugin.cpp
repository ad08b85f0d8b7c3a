#include "node/registered_plugin.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/log.h"

namespace pawl::node {

RegisteredPlugin::RegisteredPlugin(const Executor& executor, RegisteredPluginOptions options)
    : executor_(executor), options_(std::move(options)), wake_(executor), folder_retry_(executor) {}

void RegisteredPlugin::Publish(std::shared_ptr<const PluginState> state) {
  const bool first = state_ == nullptr;
  state_ = std::move(state);
  if (server_) server_->Publish(state_);
  if (first) wake_.Notify();
}

Task<> RegisteredPlugin::Run() {
  Spawn(executor_, "kubelet's folder", WatchFolder());
  while (!stopping_) {
    Task<Duration> step = Step();
    const Duration wait = co_await std::move(step);
    if (stopping_) break;
    Task<bool> woken = wake_.WaitFor(wait);
    co_await std::move(woken);
  }
}

void RegisteredPlugin::Stop() {
  stopping_ = true;
  on_change = nullptr;
  if (watch_) watch_->Close();
  if (server_) server_->Stop();
  folder_retry_.Notify();
  wake_.Notify();
}

std::optional<RegisteredPlugin::Identity> RegisteredPlugin::IdentityOf(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return Identity{found.st_dev, found.st_ino,
                  int64_t{found.st_ctim.tv_sec} * 1'000'000'000 + found.st_ctim.tv_nsec};
}

// Does what is to be done now; returns how long to wait for the next time when nothing happens.
Task<Duration> RegisteredPlugin::Step() {
  if (!state_) co_return options_.poll;
  if (!Serve()) co_return BackOff();
  const std::optional<Identity> kubelet = IdentityOf(KubeletSocket());
  if (!kubelet) {
    Unregistered("kubelet's socket " + KubeletSocket() + " is not there");
    co_return options_.poll;
  }
  if (registered_ && kubelet_ == *kubelet && !KubeletHasLeft()) co_return options_.poll;

  Task<Status> call =
      server_->Register(KubeletSocket(), options_.resource, options_.register_deadline);
  const Status answer = co_await std::move(call);
  if (stopping_) co_return options_.poll;
  if (!answer) {
    Unregistered(answer.error().message());
    co_return BackOff();
  }
  kubelet_ = *kubelet;
  backoff_.reset();
  unfollowed_since_.reset();
  ++registrations_;
  registered_ = true;
  trouble_.clear();
  log::Info("registered with kubelet",
            {{"resource", options_.resource}, {"devices", state_->devices.size()}});
  if (on_change) on_change();
  co_return options_.poll;
}

// Makes sure that our socket is there and ours.
bool RegisteredPlugin::Serve() {
  if (server_ && server_->SocketIsOurs()) return true;
  if (server_) {
    Unregistered("our socket was deleted");
    server_->Stop();
    server_.reset();
  }
  auto started =
      DevicePluginServer::Start(executor_, options_.folder + "/" + options_.endpoint, state_);
  if (!started) {
    Unregistered(started.error().message());
    return false;
  }
  server_ = *std::move(started);
  server_->SetOnStreams([this] { wake_.Notify(); });
  return true;
}

// Whether kubelet has not followed our list for longer than it can mean nothing.
bool RegisteredPlugin::KubeletHasLeft() {
  if (server_->Streams() > 0) {
    unfollowed_since_.reset();
    return false;
  }
  const Time now = std::chrono::steady_clock::now();
  if (!unfollowed_since_) unfollowed_since_ = now;
  return now - *unfollowed_since_ >= options_.poll;
}

void RegisteredPlugin::Unregistered(std::string trouble) {
  if (!registered_ && trouble_ == trouble) return;
  log::Warning("not registered with kubelet",
               {{"resource", options_.resource}, {"reason", trouble}});
  registered_ = false;
  trouble_ = std::move(trouble);
  if (on_change) on_change();
}

Duration RegisteredPlugin::BackOff() {
  backoff_ = backoff_ ? std::min(*backoff_ * 2, options_.last_backoff) : options_.first_backoff;
  return *backoff_;
}

Task<> RegisteredPlugin::WatchFolder() {
  while (!stopping_) {
    Result<FolderWatch> opened = FolderWatch::Open(executor_, options_.folder);
    if (!opened) {
      Task<bool> again = folder_retry_.WaitFor(1s);
      co_await std::move(again);
      continue;
    }
    watch_.emplace(*std::move(opened));
    wake_.Notify();  // for what happened before there was a watch
    while (!stopping_) {
      Task<Result<std::vector<FolderChange>>> next = watch_->Next();
      const Result<std::vector<FolderChange>> changes = co_await std::move(next);
      if (!changes) break;
      for (const FolderChange& change : *changes) Consider(change);
    }
    watch_.reset();
  }
}

void RegisteredPlugin::Consider(const FolderChange& change) {
  const bool kubelet = change.name == "kubelet.sock";
  if (kubelet && change.kind == FolderChange::Kind::kAppeared) {
    // A kubelet that starts does not know us, nor does it deserve an earlier one's backoff.
    backoff_.reset();
    Unregistered("kubelet has started anew");
  }
  if (kubelet || change.name == options_.endpoint || change.kind == FolderChange::Kind::kOverflow) {
    wake_.Notify();
  }
}

}  // namespace pawl::node
