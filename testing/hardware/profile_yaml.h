// Reads a profile from YAML (testing/profiles/*.yaml; docs/testing.md describes the keys).
#pragma once

#include <string>

#include "base/result.h"
#include "testing/hardware/profile.h"

namespace pawl::stand_in {

// Strict: a missing key, a key that is not known, a value of another type, two GPUs with one minor
// number, UUID or bus id, or a GPU with more links than NVML can number is kInvalid, with the key's
// path in the message.
Result<Profile> ParseProfile(const std::string& name, const std::string& text);

}  // namespace pawl::stand_in
