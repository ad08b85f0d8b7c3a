// Tells users what happened: events.k8s.io/v1 Events about an object (spec/kubernetes-client.md
// §7). Emit never waits and never fails: what cannot be sent is dropped and logged.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/task.h"
#include "kube/client.h"

namespace pawl::kube {

struct EventAbout {
  Resource resource;
  std::string ns;  // empty: the event stands in "default"
  std::string name;
  std::string uid;
};

struct EventText {
  bool warning = false;
  std::string reason;  // "GpuLost": an UpperCamel word, ≤128 bytes
  std::string action;  // what was being done: "Discover"
  std::string note;    // for people, cut to 1 kB
};

// What to send to the server for an event, if anything. Pure: the same event again (all but the
// note equal) makes a series. The second one patches the count, later ones are counted and sent at
// most every 30 minutes, and by Tick once they have been quiet for 6 minutes.
class EventLedger {
 public:
  struct Work {
    std::string key;
    std::string ns;
    std::string name;
    json::value body;
    bool patch = false;
  };

  // `controller` is "pawl-agent", `instance` adds the host: "pawl-agent-node1".
  EventLedger(std::string controller, std::string instance)
      : controller_(std::move(controller)), instance_(std::move(instance)) {}

  std::optional<Work> Observe(const EventAbout& about, const EventText& text, Time now,
                              WallTime wall);
  std::vector<Work> Tick(Time now);
  void Forget(const std::string& key) { sent_.erase(key); }

 private:
  struct Sent {
    std::string ns;
    std::string name;
    int64_t count = 1;
    int64_t told = 1;  // the count the server knows
    Time last_told{};
    Time last_seen{};
    std::string last_seen_text;
  };
  static Work PatchOf(const std::string& key, Sent& sent, Time now);

  std::string controller_;
  std::string instance_;
  std::map<std::string, Sent> sent_;
};

class EventRecorder {
 public:
  EventRecorder(Client& client, std::string instance);

  void Emit(const EventAbout& about, const EventText& text);

  // Sends what is queued until Stop. Start it once.
  Task<> Run();
  void Stop();

 private:
  Task<> SendOne(EventLedger::Work work);

  Client& client_;
  EventLedger ledger_;
  Event wake_;
  std::deque<EventLedger::Work> queue_;  // at most 1000
  bool stopping_ = false;
};

}  // namespace pawl::kube
