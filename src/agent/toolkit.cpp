#include "agent/toolkit.h"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace pawl::agent {
namespace {

constexpr std::string_view kProgramName = "pawl-runtime";

// A link `path` → `target` in the same folder, replaced in one step.
Result<Written> Link(const std::string& target, const std::string& path) {
  std::array<char, 256> now{};
  const ssize_t length = readlink(path.c_str(), now.data(), now.size());
  if (length >= 0 && std::string_view(now.data(), static_cast<size_t>(length)) == target) {
    return Written::kUnchanged;
  }
  const std::string fresh = path + ".new";
  if (Status removed = RemoveFile(fresh); !removed) return Fail(removed.error());
  if (symlink(target.c_str(), fresh.c_str()) != 0) {
    return Fail(Error::FromErrno("making the link " + fresh));
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) {
    return Fail(Error::FromErrno("making the link " + path));
  }
  return Written::kChanged;
}

}  // namespace

std::vector<std::string> ToolkitNames() { return {"nvidia-cdi-hook", "nvidia-ctk"}; }

Toolkit ToolkitIn(const std::string& install_dir) {
  const std::string folder = install_dir + "/toolkit";
  return {folder + "/" + std::string(kProgramName), folder + "/nvidia-cdi-hook"};
}

Result<Written> InstallToolkit(const std::string& program, const std::string& install_dir) {
  const std::string folder = install_dir + "/toolkit";
  if (Status made = MakeFolders(folder); !made) return Fail(made.error());
  const Result<std::string> content = ReadFile(program);
  if (!content) return Fail(content.error());
  constexpr mode_t kExecutable = 0755;
  // Not synced, which would hold up the loop: after a power failure the next agent compares the
  // bytes and writes them again before any GPU is offered.
  Result<Written> written =
      WriteFileAtomic(ToolkitIn(install_dir).program, *content, kExecutable, Sync::kNo);
  if (!written) return written;
  for (const std::string& name : ToolkitNames()) {
    std::string path = folder;
    path += "/" + name;
    const Result<Written> linked = Link(std::string(kProgramName), path);
    if (!linked) return linked;
    if (*linked == Written::kChanged) written = Written::kChanged;
  }
  return written;
}

}  // namespace pawl::agent
