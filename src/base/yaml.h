// YAML in, JSON values out, so that there is one document model. YAML 1.2 core rules for plain
// scalars: null, booleans (true, false), integers and floats; `yes`, `on` and quoted scalars are
// strings, as Kubernetes reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pawl {

// One document; an empty text is null. Errors name the line and column. A key twice in one mapping
// is an error.
Result<json::value> ParseYaml(std::string_view text);

// All documents of a stream, empty ones left out.
Result<std::vector<json::value>> ParseYamlStream(std::string_view text);

// Block style, two spaces of indent, strings quoted only where they must be.
std::string ToYaml(const json::value& value);

}  // namespace pawl
