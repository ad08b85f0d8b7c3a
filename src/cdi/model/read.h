// Reads a CDI specification. Strict: an unknown field, a wrong type, a bad name or a field that is
// newer than the stated version rejects the whole, and the error names the place
// ("devices[2].containerEdits.hooks[0].hookName: …"). spec/container-toolkit.md §5.1.
//
// A YAML file comes here too, once base/yaml.h has made a JSON value of it.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "cdi/model/spec.h"

namespace pawl::cdi {

Result<Spec> SpecFromJson(const json::value& value);

}  // namespace pawl::cdi
