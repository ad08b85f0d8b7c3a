#include "base/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/files.h"

namespace pawl {

TemporaryFolder::TemporaryFolder() {
  path_ = "/tmp/pawl-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::Path(std::string_view name) const {
  std::string path = Under(path_, name);
  if (!MakeFolders(path.substr(0, path.rfind('/')))) std::abort();
  return path;
}

std::string TemporaryFolder::Write(std::string_view name, std::string_view content) const {
  std::string path = Path(name);
  if (!WriteFileAtomic(path, content)) std::abort();
  return path;
}

}  // namespace pawl
