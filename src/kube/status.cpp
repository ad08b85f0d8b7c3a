#include "kube/status.h"

#include "base/text.h"
#include "kube/parse.h"

namespace pawl::kube {
namespace {

constexpr size_t kKeptText = 2048;

std::string_view ReasonOf(unsigned code, std::string_view method) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 406:
      return "NotAcceptable";
    case 409:
      return method == "POST" ? "AlreadyExists" : "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return code >= 500 ? "InternalError" : "Unknown";
  }
}

ErrorKind KindByCode(unsigned code) {
  switch (code) {
    case 401:
    case 403:
      return ErrorKind::kPermission;
    case 404:
      return ErrorKind::kNotFound;
    case 405:
    case 406:
    case 415:
      return ErrorKind::kUnsupported;
    case 409:
      return ErrorKind::kConflict;
    case 410:
    case 429:
      return ErrorKind::kUnavailable;
    case 504:
      return ErrorKind::kDeadlineExceeded;
    default:
      return code >= 500 ? ErrorKind::kUnavailable : ErrorKind::kInvalid;
  }
}

void ReadCauses(const json::value& object, ApiStatus& status) {
  const json::value* causes = FindPath(object, {"details", "causes"});
  if (causes == nullptr || !causes->is_array()) return;
  for (const json::value& cause : causes->get_array()) {
    status.causes.push_back(ApiStatus::Cause{TextAt(cause, {"reason"}), TextAt(cause, {"message"}),
                                             TextAt(cause, {"field"})});
  }
}

void ReadRetryAfter(const json::value& object, ApiStatus& status) {
  const json::value* seconds = FindPath(object, {"details", "retryAfterSeconds"});
  if (seconds == nullptr || !seconds->is_int64()) return;
  if (seconds->get_int64() > 0) status.retry_after = std::chrono::seconds(seconds->get_int64());
}

}  // namespace

bool ApiStatus::HasCause(std::string_view cause) const {
  for (const Cause& each : causes) {
    if (each.reason == cause) return true;
  }
  return false;
}

bool ApiStatus::IsExpired() const { return reason == "Expired" || reason == "Gone" || code == 410; }

bool ApiStatus::IsTooLarge() const {
  return HasCause("ResourceVersionTooLarge") ||
         (reason == "Timeout" && message.find("Too large resource version") != std::string::npos);
}

ApiStatus StatusOf(const json::value& object) {
  ApiStatus status;
  const json::value* code = Find(object, "code");
  if (code != nullptr && code->is_int64() && code->get_int64() > 0) {
    status.code = static_cast<unsigned>(code->get_int64());
  }
  status.reason = TextAt(object, {"reason"});
  status.message = TextAt(object, {"message"});
  ReadCauses(object, status);
  ReadRetryAfter(object, status);
  return status;
}

ApiStatus ParseStatus(unsigned code, std::string_view method, std::string_view body,
                      std::string_view retry_after_header) {
  ApiStatus status;
  const Result<json::value> object = ParseObject(body);
  if (object && TextAt(*object, {"kind"}) == "Status") {
    status = StatusOf(*object);
  } else {
    status.message = std::string(Trim(body.substr(0, kKeptText)));
  }
  status.code = code;
  if (status.reason.empty()) status.reason = ReasonOf(code, method);
  const std::optional<uint64_t> seconds = ParseUnsigned(Trim(retry_after_header));
  constexpr uint64_t kMost = 86400;
  if (seconds) status.retry_after = std::chrono::seconds(std::min(*seconds, kMost));
  return status;
}

ErrorKind KindOf(const ApiStatus& status) {
  // Server-side apply answers a field that the type does not have by a 500.
  if (status.message.starts_with("failed to create typed patch object")) return ErrorKind::kInvalid;
  struct Row {
    std::string_view reason;
    ErrorKind kind;
  };
  static constexpr Row kRows[] = {
      {"NotFound", ErrorKind::kNotFound},
      {"AlreadyExists", ErrorKind::kAlreadyExists},
      {"Conflict", ErrorKind::kConflict},
      {"Unauthorized", ErrorKind::kPermission},
      {"Forbidden", ErrorKind::kPermission},
      {"Invalid", ErrorKind::kInvalid},
      {"BadRequest", ErrorKind::kInvalid},
      {"RequestEntityTooLarge", ErrorKind::kInvalid},
      {"MethodNotAllowed", ErrorKind::kUnsupported},
      {"NotAcceptable", ErrorKind::kUnsupported},
      {"UnsupportedMediaType", ErrorKind::kUnsupported},
      {"Timeout", ErrorKind::kDeadlineExceeded},
      {"Gone", ErrorKind::kUnavailable},
      {"Expired", ErrorKind::kUnavailable},
      {"TooManyRequests", ErrorKind::kUnavailable},
      {"ServerTimeout", ErrorKind::kUnavailable},
      {"InternalError", ErrorKind::kUnavailable},
      {"ServiceUnavailable", ErrorKind::kUnavailable},
      {"StorageReadError", ErrorKind::kUnavailable},
  };
  for (const Row& row : kRows) {
    if (status.reason == row.reason) return row.kind;
  }
  return KindByCode(status.code);
}

Error ToError(const ApiStatus& status, std::string_view method, std::string_view target) {
  std::string text(method);
  text += ' ';
  text += target.substr(0, target.find('?'));
  text += ": " + status.reason + " (" + std::to_string(status.code) + ")";
  if (!status.message.empty()) text += ": " + status.message;
  return {KindOf(status), std::move(text)};
}

}  // namespace pawl::kube
