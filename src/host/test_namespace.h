// For tests that mount: runs a function in a child with a mount namespace of its own, also where
// the tests do not run as root (in a user namespace then).
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace pawl::host {

// What `work` returns (0 to 99), or 100 where no such namespace can be had, 101 after a crash.
inline int InNewMountNamespace(const std::function<int()>& work) {
  constexpr int kNoNamespace = 100;
  constexpr int kCrashed = 101;
  const pid_t child = fork();
  if (child == 0) {
    const int flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(flags) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      _exit(kNoNamespace);
    }
    _exit(work());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return kCrashed;
  return WEXITSTATUS(status);
}

}  // namespace pawl::host
