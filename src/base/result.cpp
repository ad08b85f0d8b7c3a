#include "base/result.h"

#include <system_error>

namespace pawl {

std::string_view ToString(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return "invalid";
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kAlreadyExists:
      return "already exists";
    case ErrorKind::kPermission:
      return "permission denied";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kDeadlineExceeded:
      return "deadline exceeded";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kCancelled:
      return "cancelled";
    case ErrorKind::kIo:
      return "input/output error";
    case ErrorKind::kInternal:
      return "internal error";
  }
  return "unknown";
}

namespace {

ErrorKind KindOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
    case ENODEV:
      return ErrorKind::kNotFound;
    case EEXIST:
      return ErrorKind::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kPermission;
    case ETIMEDOUT:
      return ErrorKind::kDeadlineExceeded;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case EAGAIN:
      return ErrorKind::kUnavailable;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorKind::kUnsupported;
    case ECANCELED:
      return ErrorKind::kCancelled;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorKind::kInvalid;
    default:
      return ErrorKind::kIo;
  }
}

}  // namespace

Error Error::FromErrno(std::string_view what, int error_number) {
  return {KindOf(error_number),
          std::string(what) + ": " + std::generic_category().message(error_number)};
}

Error Error::With(std::string_view context) const {
  return {kind_, std::string(context) + ": " + message_};
}

}  // namespace pawl
