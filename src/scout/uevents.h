// The kernel's notices of hardware that comes and goes (netlink, NETLINK_KOBJECT_UEVENT).
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <string_view>

#include "base/result.h"
#include "base/task.h"

namespace pawl::scout {

// Whether a notice is about what labels are made of: a PCI function or a kernel module. Text of
// NUL-separated KEY=VALUE after a first line.
bool ConcernsLabels(std::string_view notice);

class Uevents {
 public:
  static Result<Uevents> Open(const Executor& executor);

  // Awaits a notice that concerns labels, or that some were lost.
  Task<Status> Next();

  void Close() { socket_.close(); }  // ends a pending Next

 private:
  explicit Uevents(asio::posix::stream_descriptor socket) : socket_(std::move(socket)) {}
  asio::posix::stream_descriptor socket_;
};

}  // namespace pawl::scout
