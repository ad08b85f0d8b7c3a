// The scout of a node: finds what the labels of spec/feature-discovery.md §11 say and keeps them on
// the node. It looks again when the kernel tells of new hardware, when somebody changes the labels,
// and once a minute.
#pragma once

#include <optional>
#include <string>

#include "base/task.h"
#include "kube/client.h"
#include "kube/store.h"
#include "kube/watch.h"
#include "scout/labels.h"
#include "scout/uevents.h"

namespace pawl::scout {

struct ScoutOptions {
  std::string node_name;
  std::string host_root = "/host";
  std::string proc_root = "/";
  Duration interval = 60s;
  Duration between_writes = 5s;  // the least time between two writes of the same
};

class Scout {
 public:
  // `client` must outlive it, and it the loop's run.
  Scout(const Executor& executor, kube::Client& client, ScoutOptions options);

  Task<> Run();  // until Stop
  void Stop();

 private:
  Task<> Listen();
  Task<Duration> Look();  // for how long nothing is to be done, if nothing happens
  Task<Status> Publish(Labels labels);

  Executor executor_;
  kube::Client& client_;
  ScoutOptions options_;
  Event wake_;
  kube::Store<OwnNode> node_;
  kube::Reflector watch_;
  std::optional<Uevents> uevents_;
  std::string problem_;   // the last one that was logged
  Labels written_;        // by the last write that went through
  Time written_at_{};     // and when
  Duration pause_{};      // before a refused write is repeated; zero: none was
  bool settled_ = false;  // has once found all as it should be
  bool stopping_ = false;
};

}  // namespace pawl::scout
