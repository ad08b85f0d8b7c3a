#include "gpu/worker_session.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>

#include "gpu/worker.h"

namespace pawl::gpu {
namespace {

constexpr size_t kLargestMessage = 16384;

Error BadAnswer() { return {ErrorKind::kInternal, "the NVML worker's answer makes no sense"}; }

}  // namespace

std::string SecondsText(Duration duration) {
  char text[32];
  snprintf(text, sizeof(text), "%g s", std::chrono::duration<double>(duration).count());
  return text;
}

Result<std::shared_ptr<WorkerSession>> WorkerSession::Start(const Executor& executor,
                                                            Command command, Callbacks callbacks) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Fail(Error::FromErrno("making a socket pair for the NVML worker"));
  }
  FileDescriptor ours(ends[0]);
  const FileDescriptor theirs(ends[1]);
  command.descriptors.emplace_back(theirs.get(), kNvmlWorkerSocket);
  Result<Child> child = Child::Start(executor, command);
  if (!child) return Fail(child.error());
  const std::shared_ptr<WorkerSession> session(
      new WorkerSession(executor, std::move(*child), ours.Release(), std::move(callbacks)));
  Spawn(executor, "NVML worker: read", Read(session));
  Spawn(executor, "NVML worker: reap", Reap(session));
  return session;
}

WorkerSession::WorkerSession(const Executor& executor, Child child, int socket, Callbacks callbacks)
    : child_(std::move(child)),
      socket_(executor, socket),
      callbacks_(std::move(callbacks)),
      heard_(executor),
      reaped_(executor) {}

Task<Result<WorkerAnswer>> WorkerSession::Ask(std::string request, Duration deadline) {
  const std::shared_ptr<WorkerSession> self = shared_from_this();
  answer_.reset();
  current_call_.clear();
  if (!closed_ && send(socket_.native_handle(), request.data(), request.size(),
                       MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    Closed();
  }
  while (!answer_ && !closed_) {
    const bool heard = co_await heard_.WaitFor(deadline);
    if (!heard && !answer_ && !closed_) {
      co_return Fail(ErrorKind::kDeadlineExceeded,
                     (current_call_.empty() ? "the NVML worker" : current_call_) +
                         " did not answer within " + SecondsText(deadline));
    }
  }
  if (answer_) {
    WorkerAnswer answer = std::move(*answer_);
    answer_.reset();
    co_return answer;
  }
  std::string reason = co_await EndReason();
  if (!current_call_.empty()) reason += " in " + current_call_;
  co_return Fail(ErrorKind::kUnavailable, std::move(reason));
}

Task<std::string> WorkerSession::EndReason() {
  const std::shared_ptr<WorkerSession> self = shared_from_this();
  if (!exit_) co_await reaped_.WaitFor(1s);
  co_return exit_ ? ToString(*exit_) : "it closed its socket and did not end";
}

void WorkerSession::Kill() {
  callbacks_ = {};
  child_.Kill(SIGKILL);
  Closed();
}

void WorkerSession::Closed() {
  if (closed_) return;
  closed_ = true;
  socket_.close();
  heard_.Notify();
  const std::function<void()> on_end = std::exchange(callbacks_, {}).on_end;
  if (on_end) on_end();
}

Task<> WorkerSession::Read(std::shared_ptr<WorkerSession> self) {
  std::string buffer(kLargestMessage, '\0');
  while (!self->closed_) {
    boost::system::error_code error;
    const size_t count = co_await self->socket_.async_read_some(
        asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    self->Hear(std::string_view(buffer).substr(0, count));
  }
  self->Closed();
}

Task<> WorkerSession::Reap(std::shared_ptr<WorkerSession> self) {
  self->exit_ = co_await self->child_.Wait();
  self->reaped_.Notify();
}

void WorkerSession::Hear(std::string_view message) {
  if (message.starts_with('>')) {
    current_call_ = message.substr(1);
    heard_.Notify();
    return;
  }
  const Result<json::value> parsed = ParseJson(message);
  if (parsed) {
    if (const json::value* event = Find(*parsed, "event")) {
      const auto on_event = callbacks_.on_event;  // it may Kill, which drops the callbacks
      if (on_event) on_event(*event);
      return;
    }
    if (const json::value* ok = Find(*parsed, "ok")) {
      answer_ = WorkerAnswer{.ok = *ok, .code = 0, .message = {}};
      heard_.Notify();
      return;
    }
  }
  WorkerAnswer refused{.ok = nullptr, .code = 999, .message = BadAnswer().message()};
  if (const json::value* error = parsed ? Find(*parsed, "error") : nullptr) {
    const json::value* code = Find(*error, "code");
    if (code != nullptr && code->is_int64() && code->get_int64() != 0) {
      refused.code = static_cast<int>(code->get_int64());
    }
    refused.message = TextAt(*error, {"message"});
  }
  answer_ = std::move(refused);
  heard_.Notify();
}

}  // namespace pawl::gpu
