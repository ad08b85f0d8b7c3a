// What can fail returns Result<T>. Exceptions are for bugs only.
//
//   Result<std::string> text = ReadFile(path);
//   if (!text) return Fail(text.error().With("reading the node's configuration"));
//
// An Error has a kind that code may decide on, and a message fit to show a user: what was
// attempted, what was found, what was expected.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace pawl {

enum class ErrorKind {
  kInvalid,           // bad input: the message names the file or path and the expectation
  kNotFound,          // the thing asked for does not exist; often not a problem
  kAlreadyExists,     // it exists and must not
  kPermission,        // we may not
  kConflict,          // somebody changed it in between: read again and recompute
  kUnavailable,       // the other side is not there (yet): try again later
  kDeadlineExceeded,  // it did not answer in time
  kUnsupported,       // this hardware, driver or server cannot do it: do not ask again
  kCancelled,         // we are stopping
  kIo,                // a system call failed
  kInternal,          // a bug or an answer that makes no sense
};

// The kind as a word, for logs: "not found", "deadline exceeded", …
std::string_view ToString(ErrorKind kind);

class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  // A failed system call: `what` was being attempted, `error_number` is errno. The kind follows
  // from errno.
  static Error FromErrno(std::string_view what, int error_number = errno);

  // The same error with the outer attempt in front: "reading /etc/x: line 3: …".
  Error With(std::string_view context) const;

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }

 private:
  ErrorKind kind_;
  std::string message_;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error(kind, std::move(message)));
}

}  // namespace pawl
