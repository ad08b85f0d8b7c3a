// Messages on standard error; the container runtime shows them where a hook fails.
#pragma once

#include <string_view>

namespace pawl::host {

void Warn(std::string_view message);      // it goes on, with less
void Complain(std::string_view message);  // why it fails

}  // namespace pawl::host
