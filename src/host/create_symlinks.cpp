#include "host/create_symlinks.h"

#include "base/files.h"

namespace pawl::host {
namespace {

struct LinkWish {
  std::string target;
  std::string folder;
  std::string name;
};

Result<LinkWish> ParseLink(const std::string& text) {
  const size_t separator = text.find("::");
  if (separator == std::string::npos || text.find("::", separator + 2) != std::string::npos ||
      separator == 0) {
    return Fail(ErrorKind::kInvalid, "\"" + text + "\" must have the form TARGET::LINK");
  }
  std::string link = text.substr(separator + 2);
  while (link.ends_with('/')) link.pop_back();
  const size_t slash = link.rfind('/');
  LinkWish wish;
  wish.target = text.substr(0, separator);
  wish.folder = slash == std::string::npos ? "/" : link.substr(0, slash + 1);
  wish.name = slash == std::string::npos ? link : link.substr(slash + 1);
  if (wish.name.empty() || wish.name == "." || wish.name == "..") {
    return Fail(ErrorKind::kInvalid, "\"" + text + "\": the link has no name");
  }
  return wish;
}

}  // namespace

Status CreateSymlinks(const ContainerRoot& root, const std::vector<std::string>& links) {
  for (const std::string& text : links) {
    const Result<LinkWish> wish = ParseLink(text);
    if (!wish) return Fail(wish.error());
    const Result<FileDescriptor> folder = root.MakeFolders(wish->folder);
    if (!folder) return Fail(folder.error().With("the folder of the link " + text));
    if (Status made = ReplaceLink(folder->get(), wish->name, wish->target); !made) {
      return Fail(made.error().With("the link " + text));
    }
  }
  return {};
}

}  // namespace pawl::host
