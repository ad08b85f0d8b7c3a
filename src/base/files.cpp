#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/text.h"

namespace pawl {

std::string Under(std::string_view root, std::string_view path) {
  while (root.ends_with('/')) root.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return root.empty() ? "/" : std::string(root);
  return std::string(root) + "/" + std::string(path);
}

Result<std::string> ResolveUnder(const std::string& root, std::string_view path) {
  constexpr int kMaxLinks = 40;  // as the kernel's limit
  std::vector<std::string> pending = Split(path, '/');
  std::reverse(pending.begin(), pending.end());
  std::vector<std::string> done;
  int links = 0;
  while (!pending.empty()) {
    const std::string part = std::move(pending.back());
    pending.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    done.push_back(part);
    const std::string here = Under(root, Join(done, "/"));
    struct stat info {};
    if (lstat(here.c_str(), &info) != 0) return Fail(Error::FromErrno(here));
    if (!S_ISLNK(info.st_mode)) continue;
    if (++links > kMaxLinks) return Fail(Error::FromErrno(here, ELOOP));
    std::string target(4096, '\0');
    const ssize_t length = readlink(here.c_str(), target.data(), target.size());
    if (length < 0) return Fail(Error::FromErrno(here));
    target.resize(static_cast<size_t>(length));
    done.pop_back();
    if (target.starts_with('/')) done.clear();
    std::vector<std::string> parts = Split(target, '/');
    pending.insert(pending.end(), parts.rbegin(), parts.rend());
  }
  return Under(root, Join(done, "/"));
}

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno("reading " + path));
  std::string content;
  size_t used = 0;
  content.resize(4096);
  while (true) {
    if (used == content.size()) content.resize(content.size() * 2);
    const ssize_t count = read(file.get(), content.data() + used, content.size() - used);
    if (count < 0) {
      if (errno == EINTR) continue;
      return Fail(Error::FromErrno("reading " + path));
    }
    if (count == 0) break;
    used += static_cast<size_t>(count);
    if (used > limit) {
      return Fail(ErrorKind::kInvalid,
                  "reading " + path + ": more than " + std::to_string(limit) + " bytes");
    }
  }
  content.resize(used);
  return content;
}

namespace {

Status WriteAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t count = write(fd, content.data(), content.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return Fail(Error::FromErrno("writing " + path));
    }
    content.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

bool HoldsAlready(const std::string& path, std::string_view content, mode_t mode) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if ((info.st_mode & 07777) != mode || static_cast<size_t>(info.st_size) != content.size()) {
    return false;
  }
  const Result<std::string> old = ReadFile(path);
  return old && *old == content;
}

}  // namespace

Result<Written> WriteFileAtomic(const std::string& path, std::string_view content, mode_t mode,
                                Sync sync) {
  if (HoldsAlready(path, content, mode)) return Written::kUnchanged;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::string temporary = Under(folder, "." + name + ".XXXXXX");
  if (folder == ".") temporary = "." + name + ".XXXXXX";
  const FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno("writing " + path));
  Status done = WriteAll(file.get(), content, path);
  if (done && fchmod(file.get(), mode) != 0) done = Fail(Error::FromErrno("writing " + path));
  if (done && sync == Sync::kYes && fsync(file.get()) != 0)
    done = Fail(Error::FromErrno("writing " + path));
  if (done && rename(temporary.c_str(), path.c_str()) != 0) {
    done = Fail(Error::FromErrno("writing " + path));
  }
  if (!done) {
    unlink(temporary.c_str());
    return Fail(done.error());
  }
  return Written::kChanged;
}

Result<std::vector<std::string>> ListFolder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) return Fail(Error::FromErrno("listing " + path));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return Fail(Error::FromErrno("listing " + path));
  std::sort(names.begin(), names.end());
  return names;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool IsDirectory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Status MakeFolders(const std::string& path, mode_t mode) {
  for (size_t slash = path.find('/', 1); true; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), mode) != 0 && errno != EEXIST) {
      const int error_number = errno;
      if (!IsDirectory(part)) return Fail(Error::FromErrno("making folder " + part, error_number));
    }
    if (slash == std::string::npos) break;
  }
  if (!IsDirectory(path)) return Fail(Error::FromErrno("making folder " + path, ENOTDIR));
  return {};
}

Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Fail(Error::FromErrno("removing " + path));
  }
  return {};
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

void FileDescriptor::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace pawl
