#include "host/update_ldcache.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "host/isolation.h"
#include "host/loader_configuration.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // since Linux 6.3: must be asked for where vm.memfd_noexec is 1
#endif

namespace pawl::host {
namespace {

int MakeMemoryFile() {
  const int fd = memfd_create("ldconfig", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (fd >= 0 || errno != EINVAL) return fd;
  return memfd_create("ldconfig", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

std::string PathOfLdconfig(std::string path) {
  if (path.starts_with('@')) path.erase(0, 1);
  return Exists(path + ".real") ? path + ".real" : path;
}

// Does not return where it succeeds.
Status Execute(int program) {
  std::array<char*, 6> arguments = {const_cast<char*>("/sbin/ldconfig"),   const_cast<char*>("-f"),
                                    const_cast<char*>("/etc/ld.so.conf"),  const_cast<char*>("-C"),
                                    const_cast<char*>("/etc/ld.so.cache"), nullptr};
  std::array<char*, 1> environment = {nullptr};
  syscall(SYS_execveat, program, "", arguments.data(), environment.data(), AT_EMPTY_PATH);
  return Fail(Error::FromErrno("starting ldconfig"));
}

}  // namespace

Result<FileDescriptor> SealedCopy(const std::string& path) {
  const FileDescriptor source(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!source.valid() || fstat(source.get(), &info) != 0) {
    return Fail(Error::FromErrno("opening " + path));
  }
  FileDescriptor copy(MakeMemoryFile());
  if (!copy.valid()) return Fail(Error::FromErrno("copying " + path));
  off_t left = info.st_size;
  while (left > 0) {
    const ssize_t count = sendfile(copy.get(), source.get(), nullptr, static_cast<size_t>(left));
    if (count <= 0) return Fail(Error::FromErrno("copying " + path, count == 0 ? EIO : errno));
    left -= count;
  }
  std::array<char, 2> start{};
  if (pread(copy.get(), start.data(), start.size(), 0) != 2 ||
      (start[0] == '#' && start[1] == '!')) {
    return Fail(ErrorKind::kInvalid, path + ": expected a program, found a script or nothing");
  }
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (fcntl(copy.get(), F_ADD_SEALS, kSeals) != 0) {
    return Fail(Error::FromErrno("sealing the copy of " + path));
  }
  return copy;
}

Status UpdateLdCache(const ContainerRoot& root, const std::vector<std::string>& folders,
                     const std::string& ldconfig) {
  const Result<FileDescriptor> program = SealedCopy(PathOfLdconfig(ldconfig));
  if (!program) return Fail(program.error());
  return RunIsolated(root.path(), [&]() -> Status {
    const Result<ContainerRoot> here = ContainerRoot::Open("/");
    if (!here) return Fail(here.error());
    if (Status written = WriteLoaderConfiguration(*here, folders); !written) return written;
    if (Status dropped = DropCapabilities(); !dropped) return dropped;
    return Execute(program->get());
  });
}

}  // namespace pawl::host
