// JSON as the API server sends it: trusted not to be hostile, but nested deeper than what people
// write (the schema of a CustomResourceDefinition), and parsed into a given memory so that a frame
// can be let go at once.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace pawl::kube {

// kInternal names the byte. Refuses more than 512 levels.
Result<json::value> ParseObject(std::string_view text,
                                json::storage_ptr storage = json::storage_ptr());

}  // namespace pawl::kube
