// Changes in one folder, by inotify, on the event loop.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"

namespace pawl {

struct FolderChange {
  enum class Kind { kAppeared, kWritten, kVanished, kOverflow };
  Kind kind;  // kAppeared: made or moved in; kWritten: closed after writing; kVanished: removed or
              // moved out
  std::string name;  // within the folder; empty for kOverflow, where changes were lost: look at
                     // everything again
};

class FolderWatch {
 public:
  static Result<FolderWatch> Open(const Executor& executor, const std::string& folder);

  // Awaits the next changes; at least one. kNotFound once the folder itself is gone.
  Task<Result<std::vector<FolderChange>>> Next();

  void Close() { inotify_.close(); }  // ends a pending Next with kCancelled

 private:
  FolderWatch(asio::posix::stream_descriptor inotify, std::string folder)
      : inotify_(std::move(inotify)), folder_(std::move(folder)) {}
  asio::posix::stream_descriptor inotify_;
  std::string folder_;
};

}  // namespace pawl
