// The server's refusals: metav1.Status and what our errors make of it (spec/kubernetes-client.md
// §2).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pawl::kube {

struct ApiStatus {
  struct Cause {
    std::string reason;
    std::string message;
    std::string field;
  };

  unsigned code = 0;
  std::string reason;   // "Conflict", "NotFound", …: judge by this
  std::string message;  // the server's words
  std::vector<Cause> causes;
  std::optional<std::chrono::seconds> retry_after;

  bool HasCause(std::string_view cause) const;
  bool IsExpired() const;   // 410: the resourceVersion is too old, list again
  bool IsTooLarge() const;  // 504: the resourceVersion is newer than the server's cache
};

// Of an answer of 400 and above. A body that is no Status is judged by the code: 409 to a POST is
// AlreadyExists, else Conflict; at most 2 KiB of its text are kept. `retry_after` is the header's
// value (whole seconds; a date is ignored), or details.retryAfterSeconds.
ApiStatus ParseStatus(unsigned code, std::string_view method, std::string_view body,
                      std::string_view retry_after_header);

// Of the object of a watch's ERROR frame.
ApiStatus StatusOf(const json::value& object);

// NotFound → kNotFound, AlreadyExists → kAlreadyExists, Conflict → kConflict, Unauthorized and
// Forbidden → kPermission, Invalid, BadRequest and too large → kInvalid, MethodNotAllowed,
// NotAcceptable and UnsupportedMediaType → kUnsupported, Timeout → kDeadlineExceeded (a write may
// have happened), Gone and Expired → kUnavailable, other 429 and 5xx → kUnavailable.
ErrorKind KindOf(const ApiStatus& status);

// "PATCH /api/v1/nodes/n1: Conflict (409): the server's words".
Error ToError(const ApiStatus& status, std::string_view method, std::string_view target);

}  // namespace pawl::kube
