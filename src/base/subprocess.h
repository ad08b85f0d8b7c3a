// Child processes, by posix_spawn only: gRPC and others have threads, and what runs between fork
// and exec would run in a copy of one of them.
#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/task.h"

namespace pawl {

struct Command {
  std::vector<std::string>
      arguments;  // arguments[0] is the program: a path, or a name looked up in PATH
  std::vector<std::string> environment;  // "KEY=VALUE"; the whole of it, nothing is inherited
  std::vector<std::pair<int, int>>
      descriptors;  // ours → the child's; 0, 1, 2 not named here are inherited
};

struct ExitStatus {
  int code = -1;   // exit status, -1 when a signal ended it
  int signal = 0;  // the signal, 0 when it exited
  bool ok() const { return code == 0; }
};

std::string ToString(
    const ExitStatus& status);  // "exit status 3", "signal 11 (Segmentation fault)"

// A running child. The destructor kills it (SIGKILL) and leaves the corpse to whoever reaps: a
// child that hangs in the kernel can never be waited for, so nothing here blocks.
class Child {
 public:
  static Result<Child> Start(const Executor& executor, const Command& command);

  Child(Child&&) = default;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  void Kill(int signal);

  // Awaits its end and reaps it. Call it once; the child must outlive the wait.
  Task<ExitStatus> Wait();

 private:
  Child(pid_t pid, asio::posix::stream_descriptor process)
      : pid_(pid), process_(std::move(process)) {}
  pid_t pid_;
  asio::posix::stream_descriptor process_;  // a pidfd: readable when the child has ended
};

struct CommandOutput {
  ExitStatus status;
  std::string output;  // standard output; standard error is inherited
};

// Runs a command to its end. After `deadline` it is killed: kDeadlineExceeded. At most 1 MiB of
// output is kept.
Task<Result<CommandOutput>> RunCommand(Command command, Duration deadline);

}  // namespace pawl
