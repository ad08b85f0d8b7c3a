// Resolves a path inside a root, component by component, each held by a handle: what
// openat2(RESOLVE_IN_ROOT) does, for kernels without it, and for those who want to know the
// resulting path. A folder that is renamed meanwhile cannot lead the walk out: ".." goes back to
// the handle that we came from.
#pragma once

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace pawl::host {

struct Walked {
  FileDescriptor parent;  // the folder that holds the last component; the root's for the root
  std::string name;       // the last component, not a link; "." for the root
  std::string path;       // absolute, without links
};

Result<Walked> Walk(int root, std::string_view path);

}  // namespace pawl::host
