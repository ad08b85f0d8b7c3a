#include "base/folder_watch.h"

#include <sys/inotify.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

namespace pawl {

Result<FolderWatch> FolderWatch::Open(const Executor& executor, const std::string& folder) {
  const int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (inotify < 0) return Fail(Error::FromErrno("watching " + folder));
  asio::posix::stream_descriptor descriptor(executor, inotify);
  constexpr uint32_t kWanted = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE |
                               IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  if (inotify_add_watch(inotify, folder.c_str(), kWanted) < 0) {
    return Fail(Error::FromErrno("watching " + folder));
  }
  return FolderWatch(std::move(descriptor), folder);
}

namespace {

FolderChange::Kind KindOf(uint32_t mask) {
  if ((mask & IN_Q_OVERFLOW) != 0) return FolderChange::Kind::kOverflow;
  if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return FolderChange::Kind::kAppeared;
  if ((mask & IN_CLOSE_WRITE) != 0) return FolderChange::Kind::kWritten;
  return FolderChange::Kind::kVanished;
}

Result<std::vector<FolderChange>> Decode(const std::string& buffer, size_t count,
                                         const std::string& folder) {
  std::vector<FolderChange> changes;
  for (size_t at = 0; at + sizeof(inotify_event) <= count;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof(event));
    if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
      return Fail(ErrorKind::kNotFound, "watching " + folder + ": the folder is gone");
    }
    std::string name;
    if (event.len > 0) name = buffer.data() + at + sizeof(inotify_event);
    changes.push_back({KindOf(event.mask), std::move(name)});
    at += sizeof(inotify_event) + event.len;
  }
  return changes;
}

}  // namespace

Task<Result<std::vector<FolderChange>>> FolderWatch::Next() {
  std::string buffer(16384, '\0');
  boost::system::error_code error;
  const size_t count = co_await inotify_.async_read_some(
      asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return Fail(ErrorKind::kCancelled, "watching " + folder_ + ": " + error.message());
  co_return Decode(buffer, count, folder_);
}

}  // namespace pawl
