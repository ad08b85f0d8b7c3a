// The event loop's parts: tasks, events, children, folder watches.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
