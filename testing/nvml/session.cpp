#include "testing/nvml/session.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

// libstdc++'s own: gives back the memory it keeps for exceptions when there is none left.
namespace __gnu_cxx {  // NOLINT(bugprone-reserved-identifier)
void __freeres();      // NOLINT(bugprone-reserved-identifier)
}  // namespace __gnu_cxx

namespace pawl::stand_in {
namespace {

// This library has a copy of libstdc++ to itself: unloaded, it leaves nothing behind.
[[gnu::destructor]] void ReturnExceptionMemory() { __gnu_cxx::__freeres(); }

constexpr unsigned kNvidiaMajor = 195;

// A C library has one state for its process: this is it.
struct Library {
  std::mutex mutex;
  unsigned references = 0;
  std::shared_ptr<Session> session;
};

Library& TheLibrary() {
  static Library library;
  return library;
}

nvmlReturn_t LookForDriver() {
  switch (LookAtNode("/dev/nvidiactl")) {
    case NodeState::kPresent:
      return NVML_SUCCESS;
    case NodeState::kAbsent:
      return NVML_ERROR_DRIVER_NOT_LOADED;
    case NodeState::kDenied:
      return NVML_ERROR_NO_PERMISSION;
    case NodeState::kForbidden:
      break;
  }
  return NVML_ERROR_UNKNOWN;  // what a container sees whose device rules were taken away
}

std::string FaultPath() {
  const std::string folder = LibraryFolder();
  return folder.empty() ? "" : folder + "/libnvidia-ml.faults";
}

}  // namespace

NodeState LookAtNode(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return NodeState::kAbsent;
  if (!S_ISCHR(found.st_mode) || major(found.st_rdev) != kNvidiaMajor) return NodeState::kAbsent;
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) {
    close(fd);
    return NodeState::kPresent;
  }
  if (errno == ENXIO) return NodeState::kPresent;
  if (errno == EACCES) return NodeState::kDenied;
  return errno == EPERM ? NodeState::kForbidden : NodeState::kAbsent;
}

std::string LibraryFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&LibraryFolder), &info) == 0 ||
      info.dli_fname == nullptr)
    return "";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

Session::Session() : profile(MakeProfile()), faults(FaultPath()) {
  for (const Gpu& gpu : profile.gpus) {
    if (LookAtNode("/dev/nvidia" + std::to_string(gpu.minor)) != NodeState::kPresent) continue;
    devices.push_back({.gpu = &gpu,
                       .model = &profile.models[gpu.model],
                       .index = static_cast<unsigned>(devices.size())});
  }
}

const nvmlDevice_st* Session::Find(nvmlDevice_t handle) const {
  for (const nvmlDevice_st& device : devices) {
    if (&device == handle) return &device;
  }
  return nullptr;
}

const nvmlDevice_st* Session::AtPosition(int position) const {
  for (const nvmlDevice_st& device : devices) {
    if (device.gpu - profile.gpus.data() == position) return &device;
  }
  return nullptr;
}

std::optional<nvmlReturn_t> Session::MeetFault(const char* function, const nvmlDevice_st* device) {
  const std::shared_ptr<const Faults> now = faults.Current();
  std::optional<unsigned> minor;
  if (device != nullptr) minor = device->gpu->minor;
  if (const auto* fault = now->Find(function, minor)) return Suffer(*fault);
  if (minor && now->IsLost(*minor)) return NVML_ERROR_GPU_IS_LOST;
  return std::nullopt;
}

std::optional<nvmlReturn_t> Session::MeetHandleFault(const char* function,
                                                     const nvmlDevice_st& device) {
  const std::shared_ptr<const Faults> now = faults.Current();
  const unsigned minor = device.gpu->minor;
  const auto* const fault = now->Find(function, minor);
  if (fault != nullptr && fault->function != "*") return Suffer(*fault);
  if (now->IsLost(minor)) return NVML_ERROR_GPU_IS_LOST;
  return std::nullopt;
}

nvmlReturn_t Attach(const char* function, bool strict) {
  // Faults come before the lock: a call that hangs must not stop other threads' calls.
  FaultFile file(FaultPath());
  const std::shared_ptr<const Faults> faults = file.Current();
  if (const auto* fault = faults->Find("init", std::nullopt)) return Suffer(*fault);
  if (const auto* fault = faults->Find(function, std::nullopt)) return Suffer(*fault);

  Library& library = TheLibrary();
  const std::scoped_lock lock(library.mutex);
  if (library.session) {
    ++library.references;
    return NVML_SUCCESS;
  }
  if (const nvmlReturn_t driver = LookForDriver(); driver != NVML_SUCCESS) return driver;
  auto session = std::make_shared<Session>();
  for (const nvmlDevice_st& device : session->devices) {
    if (strict && faults->IsLost(device.gpu->minor)) return NVML_ERROR_GPU_IS_LOST;
  }
  library.session = std::move(session);
  library.references = 1;
  return NVML_SUCCESS;
}

nvmlReturn_t Detach() {
  Library& library = TheLibrary();
  const std::scoped_lock lock(library.mutex);
  if (!library.session) return NVML_ERROR_UNINITIALIZED;
  if (--library.references == 0) library.session.reset();
  return NVML_SUCCESS;
}

std::shared_ptr<Session> CurrentSession() {
  Library& library = TheLibrary();
  const std::scoped_lock lock(library.mutex);
  return library.session;
}

nvmlReturn_t PutText(const std::string& text, char* out, unsigned length) {
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (length < text.size() + 1) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

}  // namespace pawl::stand_in
