// A profile as C++: the source file that defines MakeProfile() for one libnvidia-ml.so.1.
#pragma once

#include <string>

#include "testing/hardware/profile.h"

namespace pawl::stand_in {

std::string RenderTable(const Profile& profile);

}  // namespace pawl::stand_in
