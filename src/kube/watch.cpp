#include "kube/watch.h"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <utility>

#include "base/log.h"
#include "kube/frames.h"
#include "kube/object.h"
#include "kube/parse.h"
#include "kube/query.h"
#include "kube/retry.h"

namespace pawl::kube {
namespace {

constexpr Duration kQuietTime = 2min;  // without a failure: the next one counts as the first
constexpr Duration kTooShort = 1s;     // a watch that ends sooner and says nothing has failed
constexpr Duration kSpread = 60s;

Time Now() { return std::chrono::steady_clock::now(); }

}  // namespace

WatchTarget OneObject(const Resource& resource, std::string ns, std::string_view name) {
  WatchTarget target;
  target.resource = resource;
  target.ns = std::move(ns);
  target.field_selector = "metadata.name=" + std::string(name);
  return target;
}

Reflector::Reflector(Client& client, WatchTarget target, WatchSink& sink, ReflectorOptions options)
    : client_(client),
      target_(std::move(target)),
      sink_(sink),
      options_(options),
      wake_(client.executor()) {}

Task<> Reflector::Run() {
  while (!stopping_) {
    if (failed_) co_await BackOff();
    if (stopping_) co_return;
    if (next_ == Next::kWatch) {
      co_await WatchOnce();
    } else {
      co_await ListAll();
    }
  }
}

void Reflector::Stop() {
  stopping_ = true;
  if (stream_ != nullptr) stream_->Close();
  wake_.Notify();
}

// Logged once until a list or a frame comes through again.
void Reflector::Trouble(std::string_view what, std::string_view why) {
  failed_ = true;
  if (stopping_ || troubled_) return;
  troubled_ = true;
  log::Warning(what, {{"resource", target_.resource.plural}, {"error", why}});
}

void Reflector::Recovered() {
  last_heard_ = Now();
  if (!troubled_) return;
  troubled_ = false;
  log::Info("the watch is well again", {{"resource", target_.resource.plural}});
}

Task<> Reflector::BackOff() {
  failed_ = false;
  const Time now = Now();
  if (now - last_failure_ > kQuietTime) failures_ = 0;
  last_failure_ = now;
  const Duration delay = WatchDelay(failures_, client_.Random());
  ++failures_;
  co_await wake_.WaitFor(Scale(delay, client_.waiting().pace));
}

Task<> Reflector::ListAll() {
  ++lists_;
  ListOptions options;
  options.label_selector = target_.label_selector;
  options.field_selector = target_.field_selector;
  options.metadata_only = target_.metadata_only;
  options.page = unpaged_ ? 0 : options_.page;
  options.retry = false;  // BackOff is ours
  if (next_ == Next::kListAtLeast) options.resource_version = resource_version_;
  Client::Visit visit = [this](const json::value& object) { sink_.ReplaceItem(object); };
  sink_.BeginReplace();
  const Client::Listed listed =
      co_await client_.ListEach(target_.resource, target_.ns, options, std::move(visit));
  if (stopping_) co_return;
  if (listed.ok) {
    resource_version_ = listed.resource_version;
    next_ = Next::kWatch;
    unpaged_ = false;
    synced_ = true;
    Recovered();
    sink_.EndReplace(resource_version_);
    co_return;
  }
  if (listed.refused.IsExpired() && next_ == Next::kListNewest) unpaged_ = true;
  if (listed.refused.IsExpired() || listed.refused.IsTooLarge()) next_ = Next::kListNewest;
  Trouble("listing failed", listed.error.message());
}

std::string Reflector::WatchPath(std::chrono::seconds timeout) const {
  Target target(target_.resource.Path(target_.ns));
  target.Add("watch", "true")
      .Add("resourceVersion", resource_version_)
      .Add("allowWatchBookmarks", "true")
      .Add("timeoutSeconds", std::to_string(timeout.count()))
      .Add("labelSelector", target_.label_selector)
      .Add("fieldSelector", target_.field_selector);
  return target.Text();
}

Task<> Reflector::WatchOnce() {
  ++watches_;
  const Duration spread = Scale(kSpread, client_.Random());
  const auto timeout = std::chrono::duration_cast<std::chrono::seconds>(options_.timeout + spread);
  const Time begin = Now();
  Result<Client::Opened> opened =
      co_await client_.OpenWatch(WatchPath(timeout), target_.metadata_only);
  if (stopping_) co_return;
  if (!opened) {
    Trouble("watching failed", opened.error().message());
    co_return;
  }
  if (!opened->stream) {
    TakeRefusal(opened->refused);
    co_return;
  }
  heard_bookmark_ = false;
  const uint64_t frames_before = frames_;
  stream_ = opened->stream.get();
  const Time deadline = begin + timeout + options_.grace;
  co_await ReadFrames(*stream_, deadline);
  stream_ = nullptr;
  const bool said_nothing = frames_ == frames_before && Now() - begin < kTooShort;
  if (said_nothing && !failed_ && next_ == Next::kWatch) Trouble("watching failed", ended_by_);
}

// Until the watch ends: normally, by an ERROR frame, broken off or fallen silent. Where it ended is
// where the next one begins, so only an ERROR frame needs more than that.
Task<> Reflector::ReadFrames(HttpStream& stream, Time deadline) {
  ended_by_ = "the server ended the watch at once";
  FrameSplitter splitter;
  const FrameSplitter::Take take = [this](std::string_view frame) {
    if (next_ == Next::kWatch && !failed_ && !stopping_) TakeFrame(frame);
  };
  while (next_ == Next::kWatch && !failed_ && !stopping_) {
    const Time until = heard_bookmark_ ? std::min(deadline, Now() + options_.silence) : deadline;
    const Result<std::string_view> bytes = co_await stream.Next(until);
    if (!bytes) ended_by_ = bytes.error().message();
    if (!bytes || bytes->empty()) co_return;
    const Status fed = splitter.Feed(*bytes, take);
    if (!fed) {
      Trouble("watching failed", fed.error().message());
      co_return;
    }
  }
}

void Reflector::TakeFrame(std::string_view frame) {
  constexpr size_t kScratch = 16384;
  unsigned char scratch[kScratch];
  json::monotonic_resource memory(scratch, sizeof scratch);
  const Result<json::value> event = ParseObject(frame, &memory);
  if (!event) {
    Trouble("watching failed", event.error().message());
    return;
  }
  const std::string type = TextAt(*event, {"type"});
  const json::value* object = Find(*event, "object");
  if (object == nullptr || !object->is_object()) {
    Trouble("watching failed", "an event without an object");
    return;
  }
  if (type == "ERROR") {
    TakeRefusal(StatusOf(*object));
    return;
  }
  ++frames_;
  Recovered();
  std::string version = ResourceVersion(*object);
  if (!version.empty()) resource_version_ = std::move(version);
  if (type == "BOOKMARK") {
    heard_bookmark_ = true;
  } else if (type == "DELETED") {
    sink_.Remove(*object);
  } else if (type == "ADDED" || type == "MODIFIED") {
    sink_.Upsert(*object);
  }
}

// 410: our place is forgotten, list from there on. 429 and 503: later, from the same place. Others:
// list again.
void Reflector::TakeRefusal(const ApiStatus& status) {
  if (status.IsExpired()) {
    next_ = Next::kListAtLeast;
    return;
  }
  const std::string text =
      status.reason + " (" + std::to_string(status.code) + ") " + status.message;
  if (status.IsTooLarge()) {
    next_ = Next::kListNewest;
  } else if (status.code != 429 && status.code != 503) {
    next_ = Next::kListAtLeast;
  }
  Trouble("watching was refused", text);
}

}  // namespace pawl::kube
