#include "host/container_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "base/text.h"
#include "host/path_walk.h"

namespace pawl::host {
namespace {

// A descriptor, or -1 and errno.
int OpenInRoot(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  constexpr int kTries = 16;  // EAGAIN: something was renamed meanwhile, the kernel could not tell
  long fd = -1;
  for (int i = 0; i < kTries; ++i) {
    fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN) break;
  }
  return static_cast<int>(fd);
}

Result<FileDescriptor> OpenByWalk(int root, std::string_view path, int flags) {
  const Result<Walked> walked = Walk(root, path);
  if (!walked) return Fail(walked.error());
  FileDescriptor file(
      openat(walked->parent.get(), walked->name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(path));
  return file;
}

Status WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(fd, content.data(), content.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return Fail(Error::FromErrno("writing"));
    }
    content.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

bool HoldsAlready(int folder, const std::string& name, std::string_view content, mode_t mode) {
  const FileDescriptor file(
      openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if ((info.st_mode & 07777U) != mode || static_cast<size_t>(info.st_size) != content.size()) {
    return false;
  }
  const Result<std::string> old = ReadAll(file.get(), content.size() + 1);
  return old && *old == content;
}

// Renames the temporary name over the wanted one, or removes it.
Status MoveOver(int folder, const std::string& temporary, const std::string& name) {
  if (renameat(folder, temporary.c_str(), folder, name.c_str()) == 0) return {};
  const Error error = Error::FromErrno("replacing " + name);
  unlinkat(folder, temporary.c_str(), 0);
  return Fail(error);
}

}  // namespace

Result<ContainerRoot> ContainerRoot::Open(const std::string& path, Lookup lookup) {
  FileDescriptor root(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return Fail(Error::FromErrno("opening the container's root " + path));
  return ContainerRoot(path, std::move(root), lookup);
}

Result<FileDescriptor> ContainerRoot::OpenAt(std::string_view path, int flags) const {
  if (lookup_ == Lookup::kKernel) {
    const std::string wanted = path.empty() ? "/" : std::string(path);
    FileDescriptor file(OpenInRoot(root_.get(), wanted, flags));
    if (file.valid()) return file;
    // EPERM also comes from seccomp profiles that do not know the call.
    if (errno != ENOSYS && errno != EPERM) return Fail(Error::FromErrno(path));
  }
  return OpenByWalk(root_.get(), path, flags);
}

Result<FileDescriptor> ContainerRoot::OpenFolder(std::string_view path) const {
  return OpenAt(path, O_PATH | O_DIRECTORY);
}

Result<FileDescriptor> ContainerRoot::MakeFolders(std::string_view path, mode_t mode) const {
  Result<FileDescriptor> folder = OpenFolder(path);
  if (folder || folder.error().kind() != ErrorKind::kNotFound) return folder;
  folder = OpenFolder("/");
  if (!folder) return folder;
  std::string so_far;
  for (const std::string& part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    so_far += "/" + part;
    Result<FileDescriptor> next = OpenFolder(so_far);
    if (!next && next.error().kind() == ErrorKind::kNotFound) {
      if (mkdirat(folder->get(), part.c_str(), mode) != 0) {
        // There is something of that name that is no folder: a file, or a link to nowhere.
        return Fail(Error::FromErrno("making folder " + so_far));
      }
      next = FileDescriptor(
          openat(folder->get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next->valid()) return Fail(Error::FromErrno(so_far));
    }
    if (!next) return next;
    folder = std::move(next);
  }
  return folder;
}

Result<std::string> ContainerRoot::ReadFile(std::string_view path, size_t limit) const {
  // O_NONBLOCK: the image may have put a pipe there.
  const Result<FileDescriptor> file = OpenAt(path, O_RDONLY | O_NONBLOCK);
  if (!file) return Fail(file.error());
  struct stat info {};
  if (fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(ErrorKind::kInvalid, std::string(path) + ": not a regular file");
  }
  Result<std::string> content = ReadAll(file->get(), limit);
  if (!content) return Fail(content.error().With(path));
  return content;
}

Result<std::string> ContainerRoot::Resolve(std::string_view path) const {
  const Result<Walked> walked = Walk(root_.get(), path);
  if (!walked) return Fail(walked.error());
  return walked->path;
}

Status ReplaceFile(int folder, const std::string& name, std::string_view content, mode_t mode) {
  if (HoldsAlready(folder, name, content, mode)) return {};
  const std::string temporary = ".pawl-" + RandomWord();
  const FileDescriptor file(openat(folder, temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return Fail(Error::FromErrno("making " + name));
  Status written = WriteAll(file.get(), content);
  if (written && fchmod(file.get(), mode) != 0) written = Fail(Error::FromErrno("writing"));
  if (!written) {
    unlinkat(folder, temporary.c_str(), 0);
    return Fail(written.error().With(name));
  }
  return MoveOver(folder, temporary, name);
}

Status ReplaceLink(int folder, const std::string& name, const std::string& target) {
  std::string old(PATH_MAX, '\0');
  const ssize_t length = readlinkat(folder, name.c_str(), old.data(), old.size());
  if (length >= 0 && old.compare(0, static_cast<size_t>(length), target) == 0) return {};
  const std::string temporary = ".pawl-" + RandomWord();
  if (symlinkat(target.c_str(), folder, temporary.c_str()) != 0) {
    return Fail(Error::FromErrno("making the link " + name));
  }
  return MoveOver(folder, temporary, name);
}

Status RemoveName(int folder, const std::string& name) {
  if (unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return Fail(Error::FromErrno("removing " + name));
}

Result<std::vector<std::string>> NamesIn(int folder) {
  const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Fail(Error::FromErrno("listing a folder"));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(fd), closedir);
  if (!stream) {
    const Error error = Error::FromErrno("listing a folder");
    close(fd);
    return Fail(error);
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> ReadAll(int fd, size_t limit) {
  std::string content;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return Fail(Error::FromErrno("reading"));
    }
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<size_t>(count));
    if (content.size() > limit) {
      return Fail(ErrorKind::kInvalid, "more than " + std::to_string(limit) + " bytes");
    }
  }
}

std::string RandomWord() {
  std::array<unsigned char, 8> bytes{};
  // Eight bytes come whole or not at all; a name that is taken is refused by O_EXCL.
  if (getrandom(bytes.data(), bytes.size(), 0) < 0) bytes.fill(0);
  std::string word;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    word += kDigits[byte >> 4U];
    word += kDigits[byte & 15U];
  }
  return word;
}

}  // namespace pawl::host
