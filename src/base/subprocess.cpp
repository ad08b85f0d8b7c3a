#include "base/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstring>
#include <optional>

namespace pawl {
namespace {

struct SpawnActions {
  posix_spawn_file_actions_t actions;
  SpawnActions() { posix_spawn_file_actions_init(&actions); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
};

struct SpawnAttributes {
  posix_spawnattr_t attributes;
  SpawnAttributes() {
    posix_spawnattr_init(&attributes);
    // A child starts with default signal handling and nothing blocked, whatever we do with signals.
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Reaps what can be watched by no descriptor. Its end is near: it has been killed as it began.
void ReapByAsking(pid_t pid, const std::shared_ptr<asio::steady_timer>& timer) {
  if (waitpid(pid, nullptr, WNOHANG) != 0) return;
  timer->expires_after(100ms);
  timer->async_wait([pid, timer](const boost::system::error_code& error) {
    if (!error) ReapByAsking(pid, timer);
  });
}

}  // namespace

// Outlives the Child: the wait for its end holds it.
class Child::Process {
 public:
  Process(const Executor& executor, pid_t pid, int descriptor)
      : pid_(pid), descriptor_(executor, descriptor), ended_(executor) {}

  static void Reap(const std::shared_ptr<Process>& self) {
    self->descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                                 [self](const boost::system::error_code&) { self->Ended(); });
  }

  pid_t pid() const { return pid_; }

  void Kill(int signal) {
    // Through the pidfd: the number may belong to somebody else by now.
    if (descriptor_.is_open()) {
      syscall(SYS_pidfd_send_signal, descriptor_.native_handle(), signal, nullptr, 0);
    }
  }

  Task<ExitStatus> Wait() {
    while (!status_) co_await ended_.Wait();
    co_return *status_;
  }

 private:
  void Ended() {
    siginfo_t info{};
    ExitStatus status;
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) == 0 &&
        info.si_pid == pid_) {
      if (info.si_code == CLD_EXITED) {
        status.code = info.si_status;
      } else {
        status.signal = info.si_status;
      }
      descriptor_.close();
    }
    status_ = status;
    ended_.Notify();
  }

  const pid_t pid_;
  asio::posix::stream_descriptor descriptor_;  // a pidfd: readable when the process has ended
  Event ended_;
  std::optional<ExitStatus> status_;
};

std::string ToString(const ExitStatus& status) {
  if (status.signal != 0) {
    return "signal " + std::to_string(status.signal) + " (" + strsignal(status.signal) + ")";
  }
  return "exit status " + std::to_string(status.code);
}

Result<Child> Child::Start(const Executor& executor, const Command& command) {
  SpawnActions actions;
  for (const auto& [ours, theirs] : command.descriptors) {
    posix_spawn_file_actions_adddup2(&actions.actions, ours, theirs);
  }
  // Nothing else crosses over: not every library marks its descriptors close-on-exec, and a child
  // that hangs must not keep a connection of ours open.
  int first_unwanted = STDERR_FILENO + 1;
  for (const auto& [ours, theirs] : command.descriptors) {
    first_unwanted = std::max(first_unwanted, theirs + 1);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions.actions, first_unwanted);
  const SpawnAttributes attributes;
  const std::vector<char*> arguments = Pointers(command.arguments);
  const std::vector<char*> environment = Pointers(command.environment);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions.actions, &attributes.attributes,
                                 arguments.data(), environment.data());
  if (error != 0) return Fail(Error::FromErrno("starting " + command.arguments[0], error));
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) {
    const int error_number = errno;
    kill(pid, SIGKILL);
    ReapByAsking(pid, std::make_shared<asio::steady_timer>(executor));
    return Fail(Error::FromErrno("watching " + command.arguments[0], error_number));
  }
  auto process = std::make_shared<Process>(executor, pid, descriptor);
  Process::Reap(process);
  return Child(std::move(process));
}

Child::~Child() {
  if (process_) process_->Kill(SIGKILL);
}

pid_t Child::pid() const { return process_->pid(); }
void Child::Kill(int signal) { process_->Kill(signal); }
Task<ExitStatus> Child::Wait() { return process_->Wait(); }

Task<Result<CommandOutput>> RunCommand(Command command, Duration deadline) {
  constexpr size_t kLimit = size_t{1} << 20;
  const Executor executor = co_await asio::this_coro::executor;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) co_return Fail(Error::FromErrno("making a pipe"));
  asio::posix::stream_descriptor reader(executor, ends[0]);
  FileDescriptor writer(ends[1]);
  command.descriptors.emplace_back(writer.get(), STDOUT_FILENO);
  Result<Child> child = Child::Start(executor, command);
  writer.Close();
  if (!child) co_return Fail(child.error());

  bool late = false;
  asio::steady_timer alarm(executor, deadline);
  alarm.async_wait([&child, &late, &reader](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    late = true;
    child->Kill(SIGKILL);
    reader.close();
  });
  CommandOutput result;
  std::string chunk(16384, '\0');
  boost::system::error_code error;
  while (!error) {
    const size_t count = co_await reader.async_read_some(
        asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, error));
    if (result.output.size() < kLimit) result.output.append(chunk, 0, count);
  }
  if (!late) result.status = co_await child->Wait();
  if (!late && alarm.cancel() == 0) {
    while (!late) co_await asio::post(executor, asio::use_awaitable);
  }
  if (late) {
    co_return Fail(ErrorKind::kDeadlineExceeded, command.arguments[0] + " did not end in time");
  }
  co_return result;
}

}  // namespace pawl
