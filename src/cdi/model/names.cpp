#include "cdi/model/names.h"

namespace pawl::cdi {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Status Validate(std::string_view what, std::string_view text, std::string_view punctuation,
                bool digit_first) {
  const std::string shown = std::string(what) + " \"" + std::string(text) + "\"";
  if (text.empty()) return Fail(ErrorKind::kInvalid, std::string(what) + " is empty");
  if (!IsLetter(text.front()) && !(digit_first && IsDigit(text.front()))) {
    return Fail(ErrorKind::kInvalid, shown + " must begin with a letter" +
                                         (digit_first ? std::string(" or digit") : std::string()));
  }
  if (!IsLetter(text.back()) && !IsDigit(text.back())) {
    return Fail(ErrorKind::kInvalid, shown + " must end with a letter or digit");
  }
  for (const char c : text) {
    if (IsLetter(c) || IsDigit(c) || punctuation.find(c) != std::string_view::npos) continue;
    return Fail(ErrorKind::kInvalid,
                shown + " may hold letters, digits and \"" + std::string(punctuation) + "\" only");
  }
  return {};
}

}  // namespace

Status ValidateVendor(std::string_view vendor) { return Validate("vendor", vendor, "_.-", false); }

Status ValidateClass(std::string_view device_class) {
  return Validate("class", device_class, "_.-", false);
}

Status ValidateDeviceName(std::string_view name) {
  return Validate("device name", name, "_.:-", true);
}

Result<Kind> ParseKind(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return Fail(ErrorKind::kInvalid,
                "kind \"" + std::string(text) + "\" must have the form VENDOR/CLASS");
  }
  Kind kind{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  if (Status valid = ValidateVendor(kind.vendor); !valid) return Fail(valid.error());
  if (Status valid = ValidateClass(kind.device_class); !valid) return Fail(valid.error());
  return kind;
}

Result<QualifiedName> ParseQualifiedName(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Fail(ErrorKind::kInvalid,
                "\"" + std::string(text) + "\" must have the form VENDOR/CLASS=DEVICE");
  }
  Result<Kind> kind = ParseKind(text.substr(0, equals));
  if (!kind) return Fail(kind.error());
  const std::string_view device = text.substr(equals + 1);
  if (Status valid = ValidateDeviceName(device); !valid) return Fail(valid.error());
  return QualifiedName{std::move(*kind), std::string(device)};
}

}  // namespace pawl::cdi
