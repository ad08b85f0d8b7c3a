// Versions of the CDI format. spec/container-toolkit.md §5.1.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cdi/model/spec.h"

namespace pawl::cdi {

// In the order of their age, "0.3.0" … "1.1.0".
enum class Version { k0_3_0, k0_4_0, k0_5_0, k0_6_0, k0_7_0, k0_8_0, k1_0_0, k1_1_0 };

std::string_view ToString(Version version);

// Also with a leading "v". kInvalid for a version that does not exist.
Result<Version> ParseVersion(std::string_view text);

// The oldest version that has every field and name which the specification uses.
Version MinimumVersion(const Spec& spec);

}  // namespace pawl::cdi
