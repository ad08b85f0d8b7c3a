// The names of CDI: VENDOR/CLASS=DEVICE. spec/container-toolkit.md §5.1.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::cdi {

struct Kind {
  std::string vendor;        // "nvidia.com"
  std::string device_class;  // "gpu"

  bool operator==(const Kind&) const = default;
  std::string ToString() const { return vendor + "/" + device_class; }
};

struct QualifiedName {
  Kind kind;
  std::string device;  // "0", "GPU-…", "all"

  bool operator==(const QualifiedName&) const = default;
  std::string ToString() const { return kind.ToString() + "=" + device; }
};

// A letter first, then letters, digits and "_.-"; a letter or digit last.
Status ValidateVendor(std::string_view vendor);
Status ValidateClass(std::string_view device_class);

// A letter or digit first (a digit since version 0.5), then letters, digits and "_.:-"; a letter or
// digit last.
Status ValidateDeviceName(std::string_view name);

Result<Kind> ParseKind(std::string_view text);

// Split at the first "=", then at the first "/". kInvalid says which part is wrong.
Result<QualifiedName> ParseQualifiedName(std::string_view text);

}  // namespace pawl::cdi
