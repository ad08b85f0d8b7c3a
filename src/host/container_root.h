// A container's root file system, worked on by handles. What lies below it belongs to the image and
// may be laid out to lead us astray: every path is resolved by the kernel inside the root
// (openat2 with RESOLVE_IN_ROOT, magic links refused), or by a walk of our own that opens component
// after component where the kernel is older than 5.6. No path of the image is ever joined to one of
// the host. spec/container-toolkit.md §10.
//
// Paths are those of the container; a relative one begins at its root.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace pawl::host {

enum class Lookup { kKernel, kWalk };

class ContainerRoot {
 public:
  // `path` is the host's. With Lookup::kKernel the walk still stands in where openat2 is missing.
  static Result<ContainerRoot> Open(const std::string& path, Lookup lookup = Lookup::kKernel);

  const std::string& path() const {
    return path_;
  }  // for messages and for mounting the root itself
  int fd() const { return root_.get(); }

  // Opens what is there; never makes anything. `flags` as open(2), without O_CREAT. Links are
  // followed inside the root.
  Result<FileDescriptor> OpenAt(std::string_view path, int flags) const;

  // An O_PATH handle of a folder.
  Result<FileDescriptor> OpenFolder(std::string_view path) const;

  // The same, after making what is missing of it. A component that is a dangling link is an error.
  Result<FileDescriptor> MakeFolders(std::string_view path, mode_t mode = 0755) const;

  // kNotFound where it is missing; kInvalid above `limit` bytes or for what is no regular file.
  Result<std::string> ReadFile(std::string_view path, size_t limit = size_t{1} << 20) const;

  // The same path without links, as the container names it.
  Result<std::string> Resolve(std::string_view path) const;

 private:
  ContainerRoot(std::string path, FileDescriptor root, Lookup lookup)
      : path_(std::move(path)), root_(std::move(root)), lookup_(lookup) {}

  std::string path_;
  FileDescriptor root_;
  Lookup lookup_;
};

// What follows works in a folder that is held by a handle; `name` is a plain name and is never
// followed where it is a link.

// Puts a new file in the place of whatever file or link has the name. Does nothing when a regular
// file with this content and mode is there.
Status ReplaceFile(int folder, const std::string& name, std::string_view content, mode_t mode);

// The same for a symbolic link. A folder of that name is an error.
Status ReplaceLink(int folder, const std::string& name, const std::string& target);

// Not there is no error.
Status RemoveName(int folder, const std::string& name);

// Sorted, without "." and "..".
Result<std::vector<std::string>> NamesIn(int folder);

// All that can be read, up to `limit` bytes.
Result<std::string> ReadAll(int fd, size_t limit);

// Sixteen hexadecimal digits from the kernel's generator.
std::string RandomWord();

}  // namespace pawl::host
