// A CDI specification as a file. spec/container-toolkit.md §5.3, §5.4 "Finishing".
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "cdi/model/spec.h"

namespace pawl::cdi {

enum class SpecFormat { kJson, kYaml };

std::string SpecText(const Spec& spec, SpecFormat format);

// Writes the file atomically, mode 0644, in the format of its extension (".json" or ".yaml", else
// kInvalid); makes its folder where that is missing. Equal bytes are not written again, so that no
// runtime reads its specifications anew for nothing.
Result<Written> WriteSpec(const std::string& path, const Spec& spec);

// JSON or YAML, by the extension. kNotFound, or kInvalid with the path of what is wrong.
Result<Spec> ReadSpec(const std::string& path);

}  // namespace pawl::cdi
