#include "kube/events.h"

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "kube/object.h"

namespace pawl::kube {
namespace {

constexpr size_t kLongestNote = 1024;
constexpr size_t kQueued = 1000;
constexpr Duration kTellAgain = 30min;
constexpr Duration kQuiet = 6min;

json::object Regarding(const EventAbout& about) {
  json::object regarding;
  regarding["apiVersion"] = about.resource.ApiVersion();
  regarding["kind"] = about.resource.kind;
  regarding["name"] = about.name;
  if (!about.ns.empty()) regarding["namespace"] = about.ns;
  if (!about.uid.empty()) regarding["uid"] = about.uid;
  return regarding;
}

std::string HexNanos(WallTime wall) {
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(wall.time_since_epoch()).count();
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(nanos));
  return text;
}

// At most 1 kB, not within a UTF-8 character.
std::string Cut(std::string_view note) {
  if (note.size() <= kLongestNote) return std::string(note);
  size_t end = kLongestNote;
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xC0U) == 0x80U) --end;
  return std::string(note.substr(0, end));
}

}  // namespace

std::optional<EventLedger::Work> EventLedger::Observe(const EventAbout& about,
                                                      const EventText& text, Time now,
                                                      WallTime wall) {
  json::object regarding = Regarding(about);
  const std::string type = text.warning ? "Warning" : "Normal";
  const std::string key = type + "|" + text.action + "|" + text.reason + "|" + ToJson(regarding);
  const auto known = sent_.find(key);
  if (known != sent_.end()) {
    Sent& sent = known->second;
    ++sent.count;
    sent.last_seen = now;
    sent.last_seen_text = ToRfc3339Micro(wall);
    if (sent.count > 2 && now - sent.last_told < kTellAgain) return std::nullopt;
    return PatchOf(key, sent, now);
  }
  Sent sent;
  sent.ns = about.ns.empty() ? "default" : about.ns;
  sent.name = about.name + "." + HexNanos(wall);
  sent.last_told = now;
  sent.last_seen = now;
  Work work;
  work.key = key;
  work.ns = sent.ns;
  work.name = sent.name;
  json::object body = NewObject(kEvents, sent.ns, sent.name);
  body["eventTime"] = ToRfc3339Micro(wall);
  body["reportingController"] = controller_;
  body["reportingInstance"] = instance_;
  body["action"] = text.action;
  body["reason"] = text.reason;
  body["type"] = type;
  body["regarding"] = std::move(regarding);
  body["note"] = Cut(text.note);
  work.body = std::move(body);
  sent_.emplace(key, std::move(sent));
  return work;
}

EventLedger::Work EventLedger::PatchOf(const std::string& key, Sent& sent, Time now) {
  sent.told = sent.count;
  sent.last_told = now;
  json::object series;
  series["count"] = sent.count;
  series["lastObservedTime"] = sent.last_seen_text;
  json::object body;
  body["series"] = std::move(series);
  Work work;
  work.key = key;
  work.ns = sent.ns;
  work.name = sent.name;
  work.patch = true;
  work.body = std::move(body);
  return work;
}

std::vector<EventLedger::Work> EventLedger::Tick(Time now) {
  std::vector<Work> all;
  for (auto entry = sent_.begin(); entry != sent_.end();) {
    Sent& sent = entry->second;
    if (now - sent.last_seen < kQuiet) {
      ++entry;
      continue;
    }
    if (sent.count > sent.told) all.push_back(PatchOf(entry->first, sent, now));
    entry = sent_.erase(entry);
  }
  return all;
}

EventRecorder::EventRecorder(Client& client, std::string instance)
    : client_(client),
      ledger_(client.field_manager(), std::move(instance)),
      wake_(client.executor()) {}

void EventRecorder::Emit(const EventAbout& about, const EventText& text) {
  std::optional<EventLedger::Work> work = ledger_.Observe(
      about, text, std::chrono::steady_clock::now(), std::chrono::system_clock::now());
  if (!work) return;
  if (queue_.size() >= kQueued) {
    log::Warning("too many events, one is dropped", {{"reason", text.reason}});
    return;
  }
  queue_.push_back(std::move(*work));
  wake_.Notify();
}

Task<> EventRecorder::SendOne(EventLedger::Work work) {
  Result<json::value> sent = json::value();
  if (work.patch) {
    sent = co_await client_.Patch(kEvents, work.ns, work.name, PatchType::kStrategic, work.body);
  } else {
    sent = co_await client_.Create(kEvents, work.body);
  }
  if (sent) co_return;
  // Its series ends: the next one of its kind is a new event.
  ledger_.Forget(work.key);
  log::Warning("an event is not sent", {{"event", work.name}, {"error", sent.error()}});
}

Task<> EventRecorder::Run() {
  while (!stopping_) {
    if (queue_.empty()) {
      co_await wake_.WaitFor(kQuiet);
      std::vector<EventLedger::Work> due = ledger_.Tick(std::chrono::steady_clock::now());
      std::move(due.begin(), due.end(), std::back_inserter(queue_));
      continue;
    }
    EventLedger::Work work = std::move(queue_.front());
    queue_.pop_front();
    co_await SendOne(std::move(work));
  }
}

void EventRecorder::Stop() {
  stopping_ = true;
  wake_.Notify();
}

}  // namespace pawl::kube
