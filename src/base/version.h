// What this build is.
#pragma once

namespace pawl {

extern const char* const kVersion;  // SemVer, from CMakeLists.txt
extern const char* const kCommit;   // git's, "unknown" outside a checkout
inline constexpr const char* kGpuOperatorCompatibility = "26.7";

}  // namespace pawl
