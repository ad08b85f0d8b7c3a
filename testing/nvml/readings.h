// Figures that more than one function gives.
#pragma once

#include <cstdint>

#include "testing/nvml/session.h"

namespace pawl::stand_in {

// Since the machine started, at the profile's power.
std::uint64_t EnergyMillijoules(const Model& model);

long long NowMicroseconds();  // since 1970

}  // namespace pawl::stand_in
