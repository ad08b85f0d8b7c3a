#include "agent/validation_files.h"

#include "base/files.h"

namespace pawl::agent {

Status ValidationFiles::Begin() {
  if (Status made = MakeFolders(folder_); !made) return made;
  for (const std::string_view name : {"driver-ready", "toolkit-ready", "plugin-ready"}) {
    if (Status removed = Clear(name); !removed) return removed;
  }
  return {};
}

Status ValidationFiles::Set(std::string_view name, std::string_view content) {
  const Result<Written> written = WriteFileAtomic(folder_ + "/" + std::string(name), content);
  if (!written) return Fail(written.error());
  return {};
}

Status ValidationFiles::Clear(std::string_view name) {
  return RemoveFile(folder_ + "/" + std::string(name));
}

}  // namespace pawl::agent
