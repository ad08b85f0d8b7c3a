// Follows one kind of object for ever: list, watch from there, watch on when the watch ends, list
// again when the server has forgotten where we were (spec/kubernetes-client.md §3).
//
//   Store<Node> nodes(ParseNode, on_change);
//   Reflector reflector(client, target, nodes);
//   Spawn(executor, "watch nodes", reflector.Run());
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/task.h"
#include "kube/client.h"
#include "kube/resource.h"

namespace pawl::kube {

// Takes what a Reflector hears, on the loop. Objects are valid during the call only. A Store is
// one.
class WatchSink {
 public:
  virtual ~WatchSink() = default;

  // A whole new state arrives object by object; until EndReplace the old one stands. A list that
  // breaks off begins again by another BeginReplace.
  virtual void BeginReplace() = 0;
  virtual void ReplaceItem(const json::value& object) = 0;
  virtual void EndReplace(std::string_view version) = 0;  // the resourceVersion of the whole

  virtual void Upsert(const json::value& object) = 0;
  virtual void Remove(const json::value& object) = 0;  // its last state
};

// What to follow.
struct WatchTarget {
  Resource resource;
  std::string ns;  // empty: all namespaces
  std::string label_selector;
  std::string field_selector;  // "metadata.name=n1": one object
  bool metadata_only = false;
};

WatchTarget OneObject(const Resource& resource, std::string ns, std::string_view name);

struct ReflectorOptions {
  Duration timeout = 290s;  // asked of the server as timeoutSeconds, plus up to 60 s by chance
  Duration grace = 30s;     // how much longer than that we wait ourselves
  Duration silence = 180s;  // after a first bookmark: longer silence means a dead connection
  size_t page = 500;
};

class Reflector {
 public:
  // `client` and `sink` must outlive it.
  Reflector(Client& client, WatchTarget target, WatchSink& sink,
            ReflectorOptions options = ReflectorOptions());

  // Runs until Stop. Start it once. Every failure is waited out (0.8 s doubling to 30 s, each plus
  // up to as much again) and logged once until it is over.
  Task<> Run();
  void Stop();

  bool synced() const { return synced_; }  // has delivered a whole state
  const std::string& resource_version() const { return resource_version_; }
  Time last_heard() const { return last_heard_; }  // last list or frame
  uint64_t lists() const { return lists_; }
  uint64_t watches() const { return watches_; }

 private:
  enum class Next { kWatch, kListAtLeast, kListNewest };

  Task<> ListAll();
  Task<> WatchOnce();
  Task<> ReadFrames(HttpStream& stream, Time deadline);
  void TakeFrame(std::string_view frame);
  void TakeRefusal(const ApiStatus& status);
  Task<> BackOff();
  void Trouble(std::string_view what, std::string_view why);
  void Recovered();

  std::string WatchPath(std::chrono::seconds timeout) const;

  Client& client_;
  WatchTarget target_;
  WatchSink& sink_;
  ReflectorOptions options_;

  Next next_ = Next::kListNewest;
  std::string resource_version_;
  bool synced_ = false;
  bool stopping_ = false;
  bool failed_ = false;    // the last step did; back off before the next
  bool troubled_ = false;  // logged, and not yet over
  bool heard_bookmark_ = false;
  std::string ended_by_;
  int failures_ = 0;
  uint64_t frames_ = 0;
  uint64_t lists_ = 0;
  uint64_t watches_ = 0;
  bool unpaged_ = false;  // a paged list fell behind: list in one piece
  Event wake_;
  Time last_heard_{};
  Time last_failure_{};
  HttpStream* stream_ = nullptr;  // of the running watch
};

}  // namespace pawl::kube
