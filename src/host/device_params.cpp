#include "host/device_params.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/complain.h"

namespace pawl::host {
namespace {

constexpr std::string_view kOn = "ModifyDeviceFiles: 1";
constexpr const char* kOff = "ModifyDeviceFiles: 0";
constexpr const char* kParams = "/proc/driver/nvidia/params";
constexpr const char* kFile = "params";
constexpr unsigned long kQuiet = MS_NOSUID | MS_NODEV | MS_NOEXEC;

// A name for what a handle holds, for mount(2), which knows no handles.
std::string ByHandle(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// A file system in memory with one file; gone with the object.
class Scratch {
 public:
  static Result<Scratch> Make(const ContainerRoot& root, const std::string& content) {
    Result<FileDescriptor> run = root.MakeFolders("/run");
    if (!run) return Fail(run.error());
    const std::string name = "nvidia-ctk-hook" + RandomWord();
    if (mkdirat(run->get(), name.c_str(), 0700) != 0) {
      return Fail(Error::FromErrno("making a folder in the container's /run"));
    }
    Scratch scratch(std::move(*run), name);
    if (Status mounted = scratch.MountAndFill(content); !mounted) return Fail(mounted.error());
    return scratch;
  }

  Scratch(Scratch&&) = default;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!run_.valid()) return;
    if (top_.valid()) umount2(ByHandle(top_.get()).c_str(), MNT_DETACH);
    file_.Close();
    top_.Close();
    unlinkat(run_.get(), name_.c_str(), AT_REMOVEDIR);
  }

  int file() const { return file_.get(); }

 private:
  Scratch(FileDescriptor run, std::string name) : run_(std::move(run)), name_(std::move(name)) {}

  FileDescriptor OpenTop() const {
    return FileDescriptor(
        openat(run_.get(), name_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }

  Status MountAndFill(const std::string& content) {
    const FileDescriptor place = OpenTop();
    if (!place.valid()) return Fail(Error::FromErrno("opening " + name_));
    if (mount("tmpfs", ByHandle(place.get()).c_str(), "tmpfs", kQuiet, "size=64k,mode=700") != 0) {
      return Fail(Error::FromErrno("mounting a file system in memory"));
    }
    top_ = OpenTop();  // now the mounted one
    if (!top_.valid()) return Fail(Error::FromErrno("opening " + name_));
    constexpr mode_t kReadOnly = 0444;
    if (Status made = ReplaceFile(top_.get(), kFile, content, kReadOnly); !made) return made;
    file_ = FileDescriptor(openat(top_.get(), kFile, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!file_.valid()) return Fail(Error::FromErrno("opening the copy"));
    return {};
  }

  FileDescriptor run_;
  std::string name_;
  FileDescriptor top_;
  FileDescriptor file_;
};

Status BindReadOnly(const ContainerRoot& root, int source, int target) {
  if (mount(ByHandle(source).c_str(), ByHandle(target).c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return Fail(Error::FromErrno("binding the changed parameters"));
  }
  // The kernel takes no other flag together with MS_BIND: a second call makes it read only.
  const Result<FileDescriptor> mounted = root.OpenAt(kParams, O_PATH);
  if (!mounted) return Fail(mounted.error());
  if (mount(nullptr, ByHandle(mounted->get()).c_str(), nullptr,
            MS_REMOUNT | MS_BIND | MS_RDONLY | kQuiet, nullptr) != 0) {
    return Fail(Error::FromErrno("making the changed parameters read only"));
  }
  return {};
}

}  // namespace

std::optional<std::string> WithoutModification(std::string_view params) {
  bool found = false;
  std::string changed;
  for (const std::string& line : Lines(params)) {
    const bool on = line == kOn;
    found = found || on;
    changed += (on ? std::string(kOff) : line) + "\n";
  }
  return found ? std::optional(changed) : std::nullopt;
}

Status DisableDeviceNodeModification(const ContainerRoot& root, const std::string& host_params) {
  constexpr size_t kLimit = 65536;
  const Result<std::string> params = pawl::ReadFile(host_params, kLimit);
  if (!params && params.error().kind() == ErrorKind::kNotFound) return {};
  if (!params) return Fail(params.error());
  const std::optional<std::string> changed = WithoutModification(*params);
  if (!changed) return {};
  const Result<FileDescriptor> target = root.OpenAt(kParams, O_PATH);
  if (!target && target.error().kind() == ErrorKind::kNotFound) {
    Warn("the container's /proc has no driver/nvidia/params: device files stay modifiable");
    return {};
  }
  if (!target) return Fail(target.error());
  const Result<Scratch> scratch = Scratch::Make(root, *changed);
  if (!scratch) return Fail(scratch.error());
  return BindReadOnly(root, scratch->file(), target->get());
}

}  // namespace pawl::host
