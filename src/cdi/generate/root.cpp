#include "cdi/generate/root.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/files.h"

namespace pawl::cdi {
namespace {

FoundFile Below(const Root& root, std::string_view rest) {
  return {Under(root.view, rest), Under(root.host, rest), Under("/", rest)};
}

}  // namespace

std::optional<FoundFile> FindFile(const Root& root, std::string_view path) {
  const Result<std::string> real = ResolveUnder(root.view, path);
  if (!real) return std::nullopt;
  std::string_view view = root.view;
  while (view.ends_with('/')) view.remove_suffix(1);
  return Below(root, std::string_view(*real).substr(view.size()));
}

FileKind KindOf(const FoundFile& file) {
  struct stat info {};
  if (lstat(file.view_path.c_str(), &info) != 0) return FileKind::kOther;
  if (S_ISREG(info.st_mode)) return FileKind::kRegular;
  if (S_ISDIR(info.st_mode)) return FileKind::kDirectory;
  if (S_ISSOCK(info.st_mode)) return FileKind::kSocket;
  return FileKind::kOther;
}

std::vector<FoundFile> FindMatches(const Root& root, const std::string& folder,
                                   const std::function<bool(std::string_view name)>& matches) {
  std::vector<FoundFile> found;
  const std::optional<FoundFile> real_folder = FindFile(root, folder);
  if (!real_folder) return found;
  const Result<std::vector<std::string>> names = ListFolder(real_folder->view_path);
  if (!names) return found;
  for (const std::string& name : *names) {
    if (!matches(name)) continue;
    const std::optional<FoundFile> file = FindFile(root, Under(real_folder->container_path, name));
    if (!file || KindOf(*file) != FileKind::kRegular) continue;
    if (std::find(found.begin(), found.end(), *file) == found.end()) found.push_back(*file);
  }
  return found;
}

std::string FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string NameOf(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
}

}  // namespace pawl::cdi
