// The event loop's parts: tasks, events, children, folder watches.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/folder_watch.h"
#include "base/run_task.h"
#include "base/subprocess.h"
#include "base/task.h"
#include "base/temporary_folder.h"

namespace pawl {
namespace {

Task<> NotifyLater(Event* event) {
  co_await Sleep(1ms);
  event->Notify();
}

TEST(Event, ANotifyBeforeTheWaitIsKept) {
  asio::io_context loop;
  Event event(loop.get_executor());
  event.Notify();
  EXPECT_TRUE(RunTask(loop, event.WaitFor(10s)));
  EXPECT_FALSE(RunTask(loop, event.WaitFor(1ms))) << "it was taken";
}

TEST(Event, WakesAWaiter) {
  asio::io_context loop;
  Event event(loop.get_executor());
  Spawn(loop.get_executor(), "notify", NotifyLater(&event));
  EXPECT_TRUE(RunTask(loop, event.WaitFor(30s)));
}

Task<> CountWhenNotified(Event* event, int* count) {
  co_await event->Wait();
  ++*count;
}

TEST(Event, LetsOneWaiterGoOnForEachNotify) {
  asio::io_context loop;
  Event event(loop.get_executor());
  int count = 0;
  Spawn(loop.get_executor(), "first", CountWhenNotified(&event, &count));
  Spawn(loop.get_executor(), "second", CountWhenNotified(&event, &count));
  const auto settled = [&loop] {  // nothing is left to do: waiters do not wake each other for ever
    for (int i = 0; i < 1000; ++i) {
      if (loop.poll_one() == 0) return true;
    }
    return false;
  };
  ASSERT_TRUE(settled());
  EXPECT_EQ(count, 0);
  event.Notify();
  ASSERT_TRUE(settled());
  EXPECT_EQ(count, 1);
  event.Notify();
  loop.restart();
  ASSERT_TRUE(settled());
  EXPECT_EQ(count, 2);
}

// Runs the loop until this process has no child, alive or dead; false after half a minute.
bool UntilNoChildIsLeft(asio::io_context& loop) {
  const Time end = std::chrono::steady_clock::now() + 30s;
  siginfo_t info{};
  loop.restart();
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (std::chrono::steady_clock::now() > end || loop.run_one_until(end) == 0) return false;
  }
  return errno == ECHILD;
}

TEST(RunCommand, GivesOutputAndStatus) {
  asio::io_context loop;
  Command command{{"sh", "-c", "echo $NAME; exit 3"}, {"NAME=value", "PATH=/bin:/usr/bin"}, {}};
  const Result<CommandOutput> done = RunTask(loop, RunCommand(command, 30s));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->output, "value\n");
  EXPECT_EQ(done->status.code, 3);
  EXPECT_EQ(ToString(done->status), "exit status 3");
}

TEST(RunCommand, KillsWhatDoesNotEndInTime) {
  asio::io_context loop;
  const Result<CommandOutput> done =
      RunTask(loop, RunCommand(Command{{"cat", "/dev/zero"}, {"PATH=/bin:/usr/bin"}, {}}, 50ms));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::kDeadlineExceeded);
  EXPECT_TRUE(UntilNoChildIsLeft(loop));
}

TEST(RunCommand, AMissingProgramIsAnErrorThatNamesIt) {
  asio::io_context loop;
  const Result<CommandOutput> done =
      RunTask(loop, RunCommand(Command{{"/no/such/program"}, {}, {}}, 5s));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::kNotFound);
  EXPECT_NE(done.error().message().find("/no/such/program"), std::string::npos);
}

TEST(Child, ASignalIsToldFromAnExit) {
  asio::io_context loop;
  Result<Child> child =
      Child::Start(loop.get_executor(), Command{{"sleep", "60"}, {"PATH=/bin:/usr/bin"}, {}});
  ASSERT_TRUE(child);
  child->Kill(SIGTERM);
  const ExitStatus status = RunTask(loop, child->Wait());
  EXPECT_EQ(status.signal, SIGTERM);
  EXPECT_FALSE(status.ok());
}

TEST(Child, IsReapedAlsoWhenNobodyWaitsForIt) {
  asio::io_context loop;
  (void)Child::Start(loop.get_executor(), Command{{"sleep", "60"}, {"PATH=/bin:/usr/bin"}, {}});
  EXPECT_TRUE(UntilNoChildIsLeft(loop));
}

TEST(Child, ThatCannotBeWatchedIsKilledAndReaped) {
  asio::io_context loop;
  const asio::steady_timer timer(loop, 1h);  // the loop has its own descriptors
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const FileDescriptor lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(lowest.get());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Result<Child> child =
      Child::Start(loop.get_executor(), Command{{"/bin/sleep", "60"}, {}, {}});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message().find("watching /bin/sleep"), std::string::npos)
      << child.error().message();
  EXPECT_TRUE(UntilNoChildIsLeft(loop));
}

Task<std::vector<std::string>> CollectNames(FolderWatch* watch, size_t wanted) {
  std::vector<std::string> names;
  while (names.size() < wanted) {
    Result<std::vector<FolderChange>> changes = co_await watch->Next();
    if (!changes) co_return names;
    for (const FolderChange& change : *changes) {
      const char* kind = change.kind == FolderChange::Kind::kAppeared  ? "+"
                         : change.kind == FolderChange::Kind::kWritten ? "="
                                                                       : "-";
      names.push_back(kind + change.name);
    }
  }
  co_return names;
}

TEST(FolderWatch, TellsWhatAppearsAndVanishes) {
  const TemporaryFolder folder;
  asio::io_context loop;
  Result<FolderWatch> watch = FolderWatch::Open(loop.get_executor(), folder.path());
  ASSERT_TRUE(watch);
  const std::string path = folder.Path("a");
  close(open(path.c_str(), O_CREAT | O_WRONLY, 0644));
  unlink(path.c_str());
  EXPECT_EQ(RunTask(loop, CollectNames(&*watch, 3)), (std::vector<std::string>{"+a", "=a", "-a"}));
}

TEST(FolderWatch, SaysWhenTheFolderItselfIsGone) {
  asio::io_context loop;
  const TemporaryFolder folder;
  const std::string inner = folder.path() + "/inner";
  ASSERT_EQ(mkdir(inner.c_str(), 0755), 0);
  Result<FolderWatch> watch = FolderWatch::Open(loop.get_executor(), inner);
  ASSERT_TRUE(watch);
  rmdir(inner.c_str());
  const auto next = RunTask(loop, watch->Next());
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace pawl
