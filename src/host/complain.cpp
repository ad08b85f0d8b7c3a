#include "host/complain.h"

#include <cstdio>

namespace pawl::host {

void Warn(std::string_view message) {
  std::fprintf(stderr, "pawl-runtime: warning: %.*s\n", static_cast<int>(message.size()),
               message.data());
}

void Complain(std::string_view message) {
  std::fprintf(stderr, "pawl-runtime: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace pawl::host
