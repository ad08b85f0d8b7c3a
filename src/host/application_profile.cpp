#include "host/application_profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "host/complain.h"

namespace pawl::host {
namespace {

constexpr const char* kFolder = "/etc/nvidia/nvidia-application-profiles-rc.d";
constexpr const char* kFile = "10-container.conf";

Result<std::vector<uint64_t>> MinorsIn(const ContainerRoot& root) {
  constexpr std::string_view kPrefix = "nvidia";
  std::vector<uint64_t> minors;
  const Result<FileDescriptor> dev = root.OpenFolder("/dev");
  if (!dev && dev.error().kind() == ErrorKind::kNotFound) return minors;
  if (!dev) return Fail(dev.error());
  const Result<std::vector<std::string>> names = NamesIn(dev->get());
  if (!names) return Fail(names.error());
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix) || !ParseUnsigned(name.substr(kPrefix.size()))) continue;
    struct stat info {};
    if (fstatat(dev->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISCHR(info.st_mode)) minors.push_back(minor(info.st_rdev));
  }
  return minors;
}

}  // namespace

uint64_t MinorMask(const std::vector<uint64_t>& minors, std::vector<uint64_t>& dropped) {
  constexpr uint64_t kBits = 64;
  uint64_t mask = 0;
  for (const uint64_t number : minors) {
    if (number < kBits) {
      mask |= uint64_t{1} << number;
    } else {
      dropped.push_back(number);
    }
  }
  return mask;
}

std::string ApplicationProfile(uint64_t mask) {
  std::string digits;
  for (uint64_t rest = mask; rest != 0; rest >>= 4U) {
    digits.insert(digits.begin(), "0123456789abcdef"[rest & 15U]);
  }
  return R"({"profiles":[{"name":"_container_","settings":["EGLVisibleDGPUDevices",0x)" + digits +
         R"(]}],"rules":[{"pattern":[],"profile":"_container_"}]})" + "\n";
}

Status UpdateApplicationProfile(const ContainerRoot& root) {
  const Result<std::vector<uint64_t>> minors = MinorsIn(root);
  if (!minors) return Fail(minors.error());
  std::vector<uint64_t> dropped;
  const uint64_t mask = MinorMask(*minors, dropped);
  for (const uint64_t number : dropped) {
    Warn("the GPU with minor " + std::to_string(number) +
         " does not fit into the application profile");
  }
  if (mask == 0) return {};
  const Result<FileDescriptor> folder = root.MakeFolders(kFolder);
  if (!folder) return Fail(folder.error());
  constexpr mode_t kReadOnly = 0444;
  return ReplaceFile(folder->get(), kFile, ApplicationProfile(mask), kReadOnly);
}

}  // namespace pawl::host
