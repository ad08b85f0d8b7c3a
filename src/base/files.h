// Files, read whole and written atomically. Every path under the host is taken relative to a root,
// so that tests run on a temporary tree: Under(root, "/etc/os-release").
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pawl {

// `path` (absolute or not) below `root`, without a double slash. Does not look at the file system:
// a symbolic link in `path` may still lead out of `root`; see ResolveUnder.
std::string Under(std::string_view root, std::string_view path);

// The real path of `path` below `root`, with every symbolic link taken relative to `root`, as a
// process that is chroot'ed there would see it. The answer begins with `root`. kNotFound if a
// component does not exist.
Result<std::string> ResolveUnder(const std::string& root, std::string_view path);

// The whole content. Works for /proc and /sys, whose files have no size. Refuses more than `limit`
// bytes.
Result<std::string> ReadFile(const std::string& path, size_t limit = size_t{64} << 20);

enum class Written { kChanged, kUnchanged };

// Whether a file outlives a power failure. Syncing may take seconds on a busy disk.
enum class Sync { kYes, kNo };

// Writes a hidden temporary file in the same folder, syncs it and renames it over `path`; a reader
// sees the old bytes or the new ones. Writes nothing when the bytes and the mode are there already.
// The folder must exist.
Result<Written> WriteFileAtomic(const std::string& path, std::string_view content,
                                mode_t mode = 0644, Sync sync = Sync::kYes);

// Names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ListFolder(const std::string& path);

bool Exists(const std::string& path);  // follows links; false also where we may not look
bool IsDirectory(const std::string& path);

// Makes the folder and its parents.
Status MakeFolders(const std::string& path, mode_t mode = 0755);

// Not there is not an error.
Status RemoveFile(const std::string& path);

// An owned file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Close();

 private:
  int fd_ = -1;
};

}  // namespace pawl
