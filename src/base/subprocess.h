// Child processes, by posix_spawn only: gRPC and others have threads, and what runs between fork
// and exec would run in a copy of one of them.
#pragma once

#include <sys/types.h>

#include <memory>
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

// A running child. The destructor kills it (SIGKILL) and waits for nothing: a child that hangs in
// the kernel may never end. The loop reaps it whenever it does end, also after this object is gone,
// for as long as the loop runs.
class Child {
 public:
  static Result<Child> Start(const Executor& executor, const Command& command);

  Child(Child&&) = default;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const;
  void Kill(int signal);  // nothing where it has ended

  // Awaits its end. One wait at a time; the child must outlive it.
  Task<ExitStatus> Wait();

 private:
  class Process;
  explicit Child(std::shared_ptr<Process> process) : process_(std::move(process)) {}
  std::shared_ptr<Process> process_;  // shared with the wait for its end
};

struct CommandOutput {
  ExitStatus status;
  std::string output;  // standard output; standard error is inherited
};

// Runs a command to its end. After `deadline` it is killed: kDeadlineExceeded. At most 1 MiB of
// output is kept.
Task<Result<CommandOutput>> RunCommand(Command command, Duration deadline);

}  // namespace pawl
