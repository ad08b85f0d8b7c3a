// A typed cache of one kind of object, kept by a Reflector. It holds what a parse function makes of
// each object (its projection), never the object itself, and shares it: a snapshot copies pointers.
//
//   Store<Node> nodes(ParseNode, [&](const Store<Node>::Change& change) { … });
//
// For the few objects that are wanted whole: Store<json::value> with KeepWhole.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "kube/watch.h"

namespace pawl::kube {

// The object less managedFields.
Result<json::value> KeepWhole(const json::value& object);

template <typename T>
class Store : public WatchSink {
 public:
  using Pointer = std::shared_ptr<const T>;

  // Makes the projection. An object it refuses is logged and not in the store; if an older state of
  // it was there, that stays.
  using Parse = std::function<Result<T>(const json::value& object)>;

  struct Change {
    const ObjectKey& key;
    Pointer before;  // null: the object is new
    Pointer after;   // null: it is gone
  };
  using OnChange = std::function<void(const Change&)>;

  // `on_change` hears every change of a projection, after the store has it. An event that leaves
  // the projection equal (where T can be compared) is none. An object that was deleted and made
  // again unseen (another uid) is heard as gone, then new.
  explicit Store(Parse parse, OnChange on_change = {})
      : parse_(std::move(parse)), on_change_(std::move(on_change)) {}

  // Called each time a whole state is in, after its changes.
  void SetOnSynced(std::function<void()> on_synced) { on_synced_ = std::move(on_synced); }

  bool synced() const { return synced_; }  // has had a whole state
  size_t size() const { return entries_.size(); }

  Pointer Get(const ObjectKey& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.value;
  }

  // All of them, sorted by namespace and name.
  std::vector<Pointer> Snapshot() const {
    std::vector<Pointer> all;
    all.reserve(entries_.size());
    for (const auto& [key, entry] : entries_) all.push_back(entry.value);
    return all;
  }

  void BeginReplace() override { incoming_.clear(); }

  void ReplaceItem(const json::value& object) override {
    ObjectKey key = KeyOf(object);
    Entry entry = Project(key, object);
    if (!entry.value) return;
    incoming_.insert_or_assign(std::move(key), std::move(entry));
  }

  void EndReplace(std::string_view version) override {
    heard_ = version;
    Entries fresh = std::exchange(incoming_, {});
    std::vector<ObjectKey> vanished;
    for (const auto& [key, entry] : entries_) {
      if (!fresh.contains(key)) vanished.push_back(key);
    }
    for (const ObjectKey& key : vanished) Drop(key);
    for (auto& [key, entry] : fresh) Put(key, std::move(entry));
    synced_ = true;
    if (on_synced_) on_synced_();
  }

  // What the watch says, unless an answer to our own write was ahead of it.
  void Upsert(const json::value& object) override {
    Hear(object);
    const ObjectKey key = KeyOf(object);
    const auto known = entries_.find(key);
    const bool behind = known != entries_.end() && known->second.uid == Uid(object) &&
                        IsLater(known->second.version, ResourceVersion(object));
    if (behind) return;
    Entry entry = Project(key, object);
    if (entry.value) Put(key, std::move(entry));
  }

  void Remove(const json::value& object) override {
    Hear(object);
    Drop(KeyOf(object));
  }

  // The answer to our own write, which the watch may have overtaken: taken only where it is later
  // than what is known of the object. One that is not known may have been deleted since: its answer
  // must be later than all that the watch has said.
  void TakeAnswer(const json::value& object) {
    const ObjectKey key = KeyOf(object);
    const auto known = entries_.find(key);
    if (known != entries_.end() && known->second.uid != Uid(object)) return;
    if (!IsLater(ResourceVersion(object),
                 known == entries_.end() ? heard_ : known->second.version)) {
      return;
    }
    Entry entry = Project(key, object);
    if (entry.value) Put(key, std::move(entry));
  }

 private:
  struct Entry {
    std::string uid;
    std::string version;
    Pointer value;
  };
  using Entries = std::map<ObjectKey, Entry>;

  void Hear(const json::value& object) {
    std::string version = ResourceVersion(object);
    if (!version.empty() && !IsLater(heard_, version)) heard_ = std::move(version);
  }

  // Keeps the old state of an object that cannot be read now.
  Entry Project(const ObjectKey& key, const json::value& object) {
    Result<T> parsed = parse_(object);
    if (parsed) {
      return Entry{Uid(object), ResourceVersion(object),
                   std::make_shared<const T>(std::move(*parsed))};
    }
    log::Warning("an object cannot be read, its last state is kept",
                 {{"object", key.Text()}, {"error", parsed.error()}});
    const auto known = entries_.find(key);
    return known == entries_.end() ? Entry{} : known->second;
  }

  static bool Same(const Pointer& one, const Pointer& other) {
    if (one == other) return true;
    if constexpr (std::equality_comparable<T>) {
      return *one == *other;
    } else {
      return false;
    }
  }

  void Put(const ObjectKey& key, Entry entry) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
      const Pointer after = entry.value;
      entries_.emplace(key, std::move(entry));
      Tell(key, nullptr, after);
      return;
    }
    if (found->second.uid != entry.uid) {
      Drop(key);
      Put(key, std::move(entry));
      return;
    }
    found->second.version = std::move(entry.version);
    if (Same(found->second.value, entry.value)) return;
    const Pointer before = std::exchange(found->second.value, entry.value);
    Tell(key, before, entry.value);
  }

  void Drop(const ObjectKey& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    const Pointer before = found->second.value;
    entries_.erase(found);
    Tell(key, before, nullptr);
  }

  void Tell(const ObjectKey& key, const Pointer& before, const Pointer& after) {
    if (on_change_) on_change_(Change{key, before, after});
  }

  Parse parse_;
  OnChange on_change_;
  std::function<void()> on_synced_;
  Entries entries_;
  Entries incoming_;
  std::string heard_;  // the latest resourceVersion of a list or of an event
  bool synced_ = false;
};

}  // namespace pawl::kube
