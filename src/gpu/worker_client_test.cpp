// The client with real worker processes: this program is its own worker, with a stand-in for the
// library that hangs, crashes and lies on command.
#include "gpu/worker_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>

#include "gpu/fake_nvml_test.h"
#include "gpu/temporary_folder_test.h"
#include "gpu/worker.h"

namespace pawl::gpu {
namespace {

int BeTheWorker(const std::string& folder) {
  FakeNvml& fake = FakeNvml::Get();
  fake = FakeNvml::FourT4();
  fake.folder = folder;
  const Result<std::string> count = ReadFile(Under(folder, "count"));
  if (count) fake.gpus.resize(ParseUnsigned(Trim(*count)).value_or(0));
  return ServeNvml(kNvmlWorkerSocket, [&folder](const std::vector<std::string>&) -> Result<Nvml> {
    if (Exists(Under(folder, "no-library"))) {
      return Fail(ErrorKind::kNotFound, "loading NVML: no such file");
    }
    return LoadFakeNvml();
  });
}

class Worker : public testing::Test {
 protected:
  Worker() {
    options_.command = {"/proc/self/exe", "nvml", folder_.path()};
    options_.call_deadline = 20s;  // also a busy machine must make it
    options_.init_deadline = 20s;
    options_.probe_interval = 30ms;
    options_.no_driver_retry = 30ms;
    options_.first_backoff = 30ms;
    options_.last_backoff = 100ms;
    options_.probation_interval = 50ms;
    EXPECT_EQ(mkfifo(folder_.At("events").c_str(), 0600), 0);
  }

  void Start() {
    worker_ = std::make_unique<NvmlWorker>(io_.get_executor(), options_);
    worker_->on_change = [this] { ++changes_; };
    worker_->on_event = [this](const GpuEvent& event) { events_.push_back(event); };
    Spawn(io_.get_executor(), "worker", RunWorker());
  }
  Task<> RunWorker() {
    co_await worker_->Run();
    ended_ = true;
  }

  // Runs the loop until it holds; false after half a minute.
  template <typename Holds>
  bool Until(const Holds& holds) {
    const Time end = std::chrono::steady_clock::now() + 30s;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io_.run_one_until(end);
    }
    return true;
  }
  bool UntilReady() {
    return Until([this] { return worker_->state() == NvmlWorker::State::kReady; });
  }
  bool UntilProblem(size_t gpu, std::string_view begins) {
    return Until([this, gpu, begins] {
      return gpu < snapshot().gpus.size() && snapshot().gpus[gpu].problem.starts_with(begins);
    });
  }
  bool UntilAllUsable() {
    return Until([this] { return snapshot().gpus.size() == 4 && Usable() == 4; });
  }
  size_t Usable() const {
    return static_cast<size_t>(std::count_if(snapshot().gpus.begin(), snapshot().gpus.end(),
                                             [](const Gpu& gpu) { return gpu.usable(); }));
  }
  const Snapshot& snapshot() const { return worker_->snapshot(); }

  TemporaryFolder folder_;
  asio::io_context io_;
  NvmlWorkerOptions options_;
  std::unique_ptr<NvmlWorker> worker_;
  int changes_ = 0;
  std::vector<GpuEvent> events_;
  bool ended_ = false;
};

TEST_F(Worker, ReadsAllGpusAndTheirConnections) {
  Start();
  ASSERT_TRUE(UntilReady());
  EXPECT_EQ(snapshot().driver_version, "550.107.02");
  ASSERT_EQ(snapshot().gpus.size(), 4U);
  EXPECT_EQ(snapshot().gpus[3].uuid, "GPU-00000000-0000-0000-0000-000000000003");
  EXPECT_EQ(snapshot().links.size(), 6U);
  EXPECT_EQ(worker_->reason(), "");
  EXPECT_EQ(changes_, 1);
}

TEST_F(Worker, WaitsForALibraryAndFindsIt) {
  folder_.Write("no-library", "");
  Start();
  ASSERT_TRUE(Until([this] { return worker_->state() == NvmlWorker::State::kNoDriver; }));
  EXPECT_EQ(worker_->reason(), "DriverNotFound: loading NVML: no such file");
  folder_.Remove("no-library");
  ASSERT_TRUE(UntilReady());
  EXPECT_EQ(Usable(), 4U);
}

TEST_F(Worker, TakesNoGpuForUsableWhileTheDriverIsAway) {
  Start();
  ASSERT_TRUE(UntilReady());
  folder_.Write("code-nvmlInit_v2", "9");
  worker_->Restart();
  ASSERT_TRUE(Until([this] { return worker_->state() == NvmlWorker::State::kNoDriver; }));
  EXPECT_EQ(worker_->reason(), "DriverNotLoaded: nvmlInit_v2: driver not loaded (9)");
  EXPECT_EQ(snapshot().gpus.size(), 4U);
  EXPECT_EQ(Usable(), 0U);
  folder_.Remove("code-nvmlInit_v2");
  EXPECT_TRUE(UntilAllUsable());
}

TEST_F(Worker, LosesOnlyTheGpuThatHangsAndTakesItBack) {
  options_.call_deadline = 1s;
  Start();
  ASSERT_TRUE(UntilReady());
  const int before = worker_->pid();
  folder_.Write("hang-nvmlDeviceGetMemoryInfo-1", "");
  ASSERT_TRUE(UntilProblem(1, "NvmlHung"));
  EXPECT_EQ(snapshot().gpus[1].problem,
            "NvmlHung: nvmlDeviceGetMemoryInfo did not answer within 1 s");
  EXPECT_EQ(Usable(), 3U);
  EXPECT_EQ(worker_->state(), NvmlWorker::State::kReady);
  ASSERT_TRUE(Until([&] { return worker_->pid() != before && worker_->pid() != 0; }));
  folder_.Remove("hang-nvmlDeviceGetMemoryInfo-1");
  EXPECT_TRUE(UntilAllUsable());
}

TEST_F(Worker, IsReadyWithoutAGpuThatHangsFromTheStart) {
  folder_.Write("hang-nvmlDeviceGetName-2", "");
  options_.call_deadline = 1s;
  Start();
  ASSERT_TRUE(UntilReady());
  EXPECT_EQ(snapshot().gpus.size(), 3U);
  ASSERT_EQ(snapshot().silent.size(), 1U);
  EXPECT_EQ(snapshot().silent[0].index, 2U);
  EXPECT_EQ(snapshot().silent[0].problem, "NvmlHung: nvmlDeviceGetName did not answer within 1 s");
  folder_.Remove("hang-nvmlDeviceGetName-2");
  EXPECT_TRUE(UntilAllUsable());
  EXPECT_TRUE(snapshot().silent.empty());
}

TEST_F(Worker, BlamesACrashOnTheGpuItWasAskedAbout) {
  folder_.Write("crash-nvmlDeviceGetUUID-0", "");
  Start();
  ASSERT_TRUE(UntilReady());
  ASSERT_EQ(snapshot().silent.size(), 1U);
  EXPECT_EQ(snapshot().silent[0].problem,
            "NvmlCrashed: signal 11 (Segmentation fault) in nvmlDeviceGetUUID");
  EXPECT_EQ(Usable(), 3U);
}

TEST_F(Worker, KeepsAllGpusWhenACallAboutTwoOfThemHangs) {
  // GPU 3 is ill, and GPU 0 is the one whose links are read first.
  folder_.Write("hang-nvmlDeviceGetTopologyCommonAncestor-3", "");
  options_.call_deadline = 1s;
  Start();
  ASSERT_TRUE(UntilReady());
  EXPECT_EQ(snapshot().gpus.size(), 4U);
  EXPECT_EQ(Usable(), 4U);
  EXPECT_TRUE(snapshot().silent.empty());
  EXPECT_TRUE(snapshot().links.empty());
  folder_.Remove("hang-nvmlDeviceGetTopologyCommonAncestor-3");
  ASSERT_TRUE(Until([this] { return snapshot().links.size() == 6; }));
  EXPECT_EQ(Usable(), 4U);
}

TEST_F(Worker, KeepsTheLinksItKnowsWhenReadingThemCrashes) {
  Start();
  ASSERT_TRUE(UntilReady());
  const std::vector<Link> links = snapshot().links;
  folder_.Write("crash-nvmlDeviceGetTopologyCommonAncestor-3", "");
  const int before = worker_->pid();
  worker_->Restart();
  // The first worker after the restart crashes, the second reads no links.
  ASSERT_TRUE(Until([&] { return worker_->pid() != before && worker_->pid() != 0; }));
  const int crashes = worker_->pid();
  ASSERT_TRUE(Until([&] { return worker_->pid() != crashes && worker_->pid() != 0; }));
  folder_.Write("code-nvmlDeviceGetMemoryInfo-1", "15");  // seen by a probe: it is at work
  ASSERT_TRUE(UntilProblem(1, "GpuLost"));
  EXPECT_EQ(Usable(), 3U);
  EXPECT_EQ(snapshot().links, links);
  EXPECT_EQ(worker_->state(), NvmlWorker::State::kReady);
}

TEST_F(Worker, HasNoUsableGpuWhileTheLibraryHangsInInit) {
  Start();
  ASSERT_TRUE(UntilReady());
  options_.init_deadline = 1s;
  worker_.reset();
  Start();
  ASSERT_TRUE(UntilReady());
  folder_.Write("hang-nvmlInit_v2", "");
  worker_->Restart();
  ASSERT_TRUE(Until([this] { return worker_->state() == NvmlWorker::State::kHung; }));
  EXPECT_EQ(worker_->reason(), "NvmlHung: nvmlInit_v2 did not answer within 1 s");
  EXPECT_EQ(snapshot().gpus.size(), 4U);
  EXPECT_EQ(Usable(), 0U);
  folder_.Remove("hang-nvmlInit_v2");
  EXPECT_TRUE(UntilAllUsable());
  EXPECT_EQ(worker_->state(), NvmlWorker::State::kReady);
}

TEST_F(Worker, IsHungWhenTheLibraryCrashesAgainAndAgain) {
  folder_.Write("crash-nvmlInit_v2", "");
  Start();
  ASSERT_TRUE(Until([this] { return worker_->state() == NvmlWorker::State::kHung; }));
  EXPECT_EQ(worker_->reason(), "NvmlCrashed: signal 11 (Segmentation fault) in nvmlInit_v2");
  folder_.Remove("crash-nvmlInit_v2");
  EXPECT_TRUE(UntilAllUsable());
}

TEST_F(Worker, KeepsAllGpusWhenOneWorkerEndsByItself) {
  Start();
  ASSERT_TRUE(UntilReady());
  bool always_usable = true;
  worker_->on_change = [&] { always_usable = always_usable && Usable() == 4; };
  const int before = worker_->pid();
  ASSERT_EQ(kill(before, SIGKILL), 0);
  ASSERT_TRUE(Until([&] { return worker_->pid() != before && worker_->pid() != 0; }));
  EXPECT_TRUE(UntilReady());
  EXPECT_TRUE(always_usable);
}

TEST_F(Worker, NoticesALostGpuAndItsReturn) {
  Start();
  ASSERT_TRUE(UntilReady());
  folder_.Write("code-nvmlDeviceGetMemoryInfo-3", "15");
  ASSERT_TRUE(UntilProblem(3, "GpuLost: nvmlDeviceGetMemoryInfo: GPU is lost (15)"));
  EXPECT_EQ(Usable(), 3U);
  folder_.Remove("code-nvmlDeviceGetMemoryInfo-3");
  EXPECT_TRUE(UntilAllUsable());
}

TEST_F(Worker, RemembersAGpuThatIsListedNoMore) {
  Start();
  ASSERT_TRUE(UntilReady());
  folder_.Write("count", "3");
  worker_->Restart();
  ASSERT_TRUE(UntilProblem(3, "GpuLost: NVML does not list it any more"));
  EXPECT_EQ(Usable(), 3U);
  folder_.Remove("count");
  worker_->Restart();
  EXPECT_TRUE(UntilAllUsable());
}

TEST_F(Worker, PassesOnWhatAGpuReports) {
  Start();
  ASSERT_TRUE(UntilReady());
  const FileDescriptor fifo(open(folder_.At("events").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(write(fifo.get(), "2 8 79\n", 7), 7);
  ASSERT_TRUE(Until([this] { return !events_.empty(); }));
  EXPECT_EQ(events_[0].uuid, "GPU-00000000-0000-0000-0000-000000000002");
  EXPECT_EQ(events_[0].type, nvml::kXid);
  EXPECT_EQ(events_[0].data, 79U);
  EXPECT_EQ(events_[0].gpu_instance, std::nullopt);
}

TEST_F(Worker, StopsAtOnceWhateverTheLibraryDoes) {
  folder_.Write("hang-nvmlInit_v2", "");
  Start();
  ASSERT_TRUE(Until([this] { return worker_->pid() != 0; }));
  const Time begin = std::chrono::steady_clock::now();
  worker_->Stop();
  ASSERT_TRUE(Until([this] { return ended_; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(Worker, MayGoWhileItWorks) {
  Start();
  ASSERT_TRUE(Until([this] { return worker_->pid() != 0; }));
  const int pid = worker_->pid();
  worker_.reset();
  EXPECT_TRUE(Until([pid] { return kill(pid, 0) != 0; }));  // ended and reaped
}

TEST_F(Worker, SaysWhenItsProgramIsNotThere) {
  options_.command = {"/no/such/program"};
  Start();
  ASSERT_TRUE(Until([this] { return worker_->state() == NvmlWorker::State::kHung; }));
  EXPECT_NE(worker_->reason().find("/no/such/program"), std::string::npos);
}

class OneReading : public Worker {
 protected:
  Result<Snapshot> Take() {
    Spawn(io_.get_executor(), "one reading", Into());
    EXPECT_TRUE(Until([this] { return taken_.has_value(); }));
    return *taken_;
  }
  Task<> Into() {
    NvmlWorkerOptions options = options_;
    taken_ = co_await TakeSnapshotOnce(std::move(options));
  }
  std::optional<Result<Snapshot>> taken_;
};

TEST_F(OneReading, IsWhatNvmlSays) {
  const Result<Snapshot> snapshot = Take();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  EXPECT_EQ(snapshot->gpus.size(), 4U);
}

TEST_F(OneReading, FailsWithoutADriver) {
  folder_.Write("no-library", "");
  const Result<Snapshot> snapshot = Take();
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().kind(), ErrorKind::kUnavailable);
}

TEST_F(OneReading, FailsWhenInitHangs) {
  folder_.Write("hang-nvmlInit_v2", "");
  options_.init_deadline = 1s;
  const Result<Snapshot> snapshot = Take();
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().kind(), ErrorKind::kDeadlineExceeded);
  EXPECT_EQ(snapshot.error().message(), "NvmlHung: nvmlInit_v2 did not answer within 1 s");
}

}  // namespace
}  // namespace pawl::gpu

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "nvml") {
    _exit(pawl::gpu::BeTheWorker(argv[2]));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
