// Tells users what happened: events.k8s.io/v1 Events about an object (spec/kubernetes-client.md
// §7). Emit never waits and never fails: what cannot be sent is dropped and logged.
#pragma once

#include <deque>
#include <map>
#include <string>

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

class EventRecorder {
 public:
  // `instance` is controller and host name: "pawl-agent-node1".
  EventRecorder(const Executor& executor, Client& client, std::string instance);

  // The same event again (all but the note equal) makes a series: the second one patches the count,
  // later ones are counted and sent at most every 30 minutes.
  void Emit(const EventAbout& about, const EventText& text);

  // Sends what is queued until Stop. Start it once.
  Task<> Run();
  void Stop();

 private:
  struct Sent {
    std::string ns;
    std::string name;
    int64_t count = 1;
    Time last_patch{};
    Time last_seen{};
  };
  struct Work {
    std::string key;
    std::string ns;
    std::string name;
    json::value body;
    bool patch = false;
  };

  Task<> SendOne(Work work);
  void Forget(Time now);

  Client& client_;
  std::string instance_;
  Event wake_;
  std::deque<Work> queue_;  // at most 1000
  std::map<std::string, Sent> sent_;
  bool stopping_ = false;
};

}  // namespace pawl::kube
