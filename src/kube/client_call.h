// What the parts of Client hand to each other.
#pragma once

#include <string>

#include "kube/client.h"

namespace pawl::kube {

struct Client::Call {
  HttpRequest request;
  Duration deadline{};
  bool retry = true;
};

struct Client::Answer {
  ApiStatus refused;  // code 0: it was not
  std::string body;   // unless the caller takes it
};

}  // namespace pawl::kube
