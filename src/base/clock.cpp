#include "base/clock.h"

#include <fmt/chrono.h>

namespace pawl {

std::string ToRfc3339(WallTime time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     std::chrono::time_point_cast<std::chrono::seconds>(time));
}

std::string ToRfc3339Micro(WallTime time) {
  const auto whole = std::chrono::time_point_cast<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - whole).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06d}Z", whole, micros);
}

}  // namespace pawl
