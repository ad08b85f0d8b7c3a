#include "scout/uevents.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "base/files.h"

namespace pawl::scout {
namespace {

constexpr uint32_t kKernelGroup = 1;  // the kernel's own notices; udev's have group 2
constexpr size_t kLongestNotice = 8192;

}  // namespace

bool ConcernsLabels(std::string_view notice) {
  for (size_t begin = 0; begin < notice.size();) {
    const size_t end = std::min(notice.find('\0', begin), notice.size());
    const std::string_view field = notice.substr(begin, end - begin);
    if (field == "SUBSYSTEM=pci" || field == "SUBSYSTEM=module") return true;
    begin = end + 1;
  }
  return false;
}

Result<Uevents> Uevents::Open(const Executor& executor) {
  FileDescriptor socket(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  if (!socket.valid()) return Fail(Error::FromErrno("opening the kernel's notices of hardware"));
  sockaddr_nl address = {};
  address.nl_family = AF_NETLINK;
  address.nl_groups = kKernelGroup;
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Fail(Error::FromErrno("listening to the kernel's notices of hardware"));
  }
  return Uevents(asio::posix::stream_descriptor(executor, socket.Release()));
}

Task<Status> Uevents::Next() {
  std::array<char, kLongestNotice> notice{};
  while (true) {
    boost::system::error_code error;
    const size_t size = co_await socket_.async_read_some(
        asio::buffer(notice), asio::redirect_error(asio::use_awaitable, error));
    if (error == boost::system::errc::no_buffer_space) co_return Status();  // some were lost
    if (error == asio::error::operation_aborted || !socket_.is_open()) {
      co_return Fail(ErrorKind::kCancelled, "no more notices are wanted");
    }
    if (error) co_return Fail(Error::FromErrno("reading notices of hardware", error.value()));
    if (ConcernsLabels(std::string_view(notice.data(), size))) co_return Status();
  }
}

}  // namespace pawl::scout
