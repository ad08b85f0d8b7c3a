#include "host/path_walk.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace pawl::host {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's
constexpr size_t kMaxDepth = 256;

struct Step {
  std::string name;
  FileDescriptor handle;
};

bool IsLink(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISLNK(info.st_mode);
}

Result<std::string> TargetOf(int link, const std::string& shown) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = readlinkat(link, "", target.data(), target.size());
  if (length < 0) return Fail(Error::FromErrno(shown));
  target.resize(static_cast<size_t>(length));
  return target;
}

void Push(std::vector<std::string>& pending, std::string_view path) {
  const std::vector<std::string> parts = Split(path, '/');
  pending.insert(pending.end(), parts.rbegin(), parts.rend());
}

}  // namespace

Result<Walked> Walk(int root, std::string_view path) {
  const std::string shown(path);
  std::vector<std::string> pending;
  Push(pending, path);
  std::vector<Step> steps;
  int links = 0;
  while (!pending.empty()) {
    std::string name = std::move(pending.back());
    pending.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (!steps.empty()) steps.pop_back();
      continue;
    }
    const int here = steps.empty() ? root : steps.back().handle.get();
    FileDescriptor next(openat(here, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return Fail(Error::FromErrno(shown));
    if (!IsLink(next.get())) {
      if (steps.size() == kMaxDepth) return Fail(Error::FromErrno(shown, ENAMETOOLONG));
      steps.push_back({std::move(name), std::move(next)});
      continue;
    }
    if (++links > kMaxLinks) return Fail(Error::FromErrno(shown, ELOOP));
    const Result<std::string> target = TargetOf(next.get(), shown);
    if (!target) return Fail(target.error());
    if (target->starts_with('/')) steps.clear();
    Push(pending, *target);
  }
  Walked walked;
  for (const Step& step : steps) walked.path.append("/").append(step.name);
  if (steps.empty()) walked.path.push_back('/');
  walked.name = steps.empty() ? "." : steps.back().name;
  const int parent = steps.size() < 2 ? root : steps[steps.size() - 2].handle.get();
  walked.parent = FileDescriptor(fcntl(parent, F_DUPFD_CLOEXEC, 0));
  if (!walked.parent.valid()) return Fail(Error::FromErrno(shown));
  return walked;
}

}  // namespace pawl::host
