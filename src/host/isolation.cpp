#include "host/isolation.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "host/complain.h"

namespace pawl::host {
namespace {

bool SameFolder(const std::string& a, const char* b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// The new root is the working folder, and its own mount.
Status MakeWorkingFolderTheRoot() {
  if (syscall(SYS_pivot_root, ".", ".") == 0) return {};
  if (errno != EINVAL) return Fail(Error::FromErrno("pivot_root"));
  // The initial ram disk cannot be pivoted away from.
  if (mount(".", "/", nullptr, MS_MOVE, nullptr) != 0) {
    return Fail(Error::FromErrno("moving the container's root to /"));
  }
  if (chroot(".") != 0 || chdir("/") != 0) {
    return Fail(Error::FromErrno("changing to the container's root"));
  }
  return {};
}

// The host's /proc must still be there: a user namespace may mount a new one only beside it.
void MountProc() {
  struct stat info {};
  if (lstat("/proc", &info) != 0 || !S_ISDIR(info.st_mode) ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    Warn(Error::FromErrno("no new /proc in the container's root").message());
  }
}

Status EnterRoot(const std::string& root) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return Fail(Error::FromErrno("making the mounts private"));
  }
  // pivot_root wants a mount of its own.
  if (mount(root.c_str(), root.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return Fail(Error::FromErrno("binding " + root));
  }
  if (chdir(root.c_str()) != 0) return Fail(Error::FromErrno("entering " + root));
  if (Status pivoted = MakeWorkingFolderTheRoot(); !pivoted) return pivoted;
  MountProc();
  // After pivot_root(".", ".") the old root lies over the new one, at the working folder.
  if (umount2(".", MNT_DETACH) != 0 && errno != EINVAL) {
    return Fail(Error::FromErrno("detaching the host's root"));
  }
  if (chdir("/") != 0) return Fail(Error::FromErrno("entering the container's root"));
  return {};
}

[[noreturn]] void RunChild(const std::string& root, const std::function<Status()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Status done = EnterRoot(root);
  if (done) done = work();
  if (!done) Complain(done.error().message());
  _exit(done ? 0 : 1);
}

}  // namespace

Status RunIsolated(const std::string& root, const std::function<Status()>& work) {
  if (root.empty() || SameFolder(root, "/")) {
    return Fail(ErrorKind::kInvalid, "the container's root must not be the host's /");
  }
  // As fork, with new namespaces; glibc's own fork has no flags.
  constexpr unsigned long kFlags =
      CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | SIGCHLD;
  const long child = syscall(SYS_clone, kFlags, nullptr, nullptr, nullptr, nullptr);
  if (child < 0) return Fail(Error::FromErrno("starting a process in new namespaces"));
  if (child == 0) RunChild(root, work);
  int status = 0;
  while (waitpid(static_cast<pid_t>(child), &status, 0) < 0) {
    if (errno != EINTR) return Fail(Error::FromErrno("waiting for the isolated process"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFSIGNALED(status)
                              ? "was ended by signal " + std::to_string(WTERMSIG(status))
                              : "ended with exit status " + std::to_string(WEXITSTATUS(status));
  return Fail(ErrorKind::kIo, "the isolated process " + how);
}

Status DropCapabilities() {
  constexpr std::array<int, 5> kKept = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
                                        CAP_FOWNER, CAP_FSETID};
  constexpr int kPossible = 64;
  for (int capability = 0; capability < kPossible; ++capability) {
    if (std::find(kKept.begin(), kKept.end(), capability) != kKept.end()) continue;
    if (prctl(PR_CAPBSET_READ, capability) < 1) continue;  // unknown to this kernel, or gone
    if (prctl(PR_CAPBSET_DROP, capability) != 0) {
      return Fail(Error::FromErrno("dropping capabilities"));
    }
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Fail(Error::FromErrno("setting no_new_privs"));
  }
  return {};
}

}  // namespace pawl::host
