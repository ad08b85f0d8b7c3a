// Broken hardware, as a program that loads the library from the driver root meets it.
#include "testing/nvml/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "testing/fixture/machine.h"

namespace pawl::stand_in {
namespace {

using namespace std::chrono_literals;

class NvmlFaults : public testing::Test {
 protected:
  void SetUp() override {
    machine_.AddAllNodes();
    nvml_.emplace(machine_.library());
  }
  void Init() { ASSERT_EQ(nvml_->Call("nvmlInit_v2"), NVML_SUCCESS); }
  nvmlReturn_t Temperature(unsigned index) {
    unsigned degrees = 0;
    return nvml_->Call("nvmlDeviceGetTemperature", nvml_->Device(index), 0U, &degrees);
  }
  nvmlEventSet_t RegisterXids(unsigned index) {
    nvmlEventSet_t set = nullptr;
    EXPECT_EQ(nvml_->Call("nvmlEventSetCreate", &set), NVML_SUCCESS);
    EXPECT_EQ(nvml_->Call("nvmlDeviceRegisterEvents", nvml_->Device(index), kNvmlEventXid, set),
              NVML_SUCCESS);
    return set;
  }

  Machine machine_{"t4x4"};
  std::optional<Library> nvml_;
};

TEST_F(NvmlFaults, InitHangsForEverAndHearsNoSignalButKill) {
  machine_.Break("init hang\n");
  Child child([&] { return static_cast<int>(nvml_->Call("nvmlInit_v2")); });
  EXPECT_FALSE(child.EndsWithin(100ms));
  child.Signal(SIGTERM);
  EXPECT_FALSE(child.EndsWithin(100ms));
  child.Signal(SIGKILL);
  EXPECT_TRUE(child.EndsWithin(5s));
}

TEST_F(NvmlFaults, InitCrashesTheProcess) {
  machine_.Break("init crash\n");
  Child child([&] {
    std::signal(SIGSEGV, SIG_DFL);
    return static_cast<int>(nvml_->Call("nvmlInit_v2"));
  });
  ASSERT_TRUE(child.EndsWithin(5s));
  EXPECT_TRUE(WIFSIGNALED(child.wait_status()));
  EXPECT_EQ(WTERMSIG(child.wait_status()), SIGSEGV);
}

TEST_F(NvmlFaults, InitFailsUntilTheFaultIsGone) {
  machine_.Break("init error 18\n");
  EXPECT_EQ(nvml_->Call("nvmlInitWithFlags", 0U), NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  machine_.Break("");
  EXPECT_EQ(nvml_->Call("nvmlInitWithFlags", 0U), NVML_SUCCESS);
}

TEST_F(NvmlFaults, AHangOnOneGpuLeavesTheOthersAnswering) {
  Init();
  machine_.Break("gpu 2 hang\n");
  Child child([&] { return static_cast<int>(Temperature(2)); });
  EXPECT_FALSE(child.EndsWithin(100ms));
  EXPECT_EQ(Temperature(0), NVML_SUCCESS);
  EXPECT_EQ(Temperature(3), NVML_SUCCESS);
}

TEST_F(NvmlFaults, AThreadThatHangsDoesNotBlockOtherThreads) {
  Init();
  machine_.Break("gpu 2 hang\n");
  Child child([&] {
    std::thread([&] { Temperature(2); }).detach();
    return static_cast<int>(Temperature(1));
  });
  ASSERT_TRUE(child.EndsWithin(5s));
  EXPECT_EQ(WEXITSTATUS(child.wait_status()), NVML_SUCCESS);
}

TEST_F(NvmlFaults, OneFunctionFailsInAllItsVersions) {
  Init();
  machine_.Break("gpu 1 nvmlDeviceGetMemoryInfo error 999  # both forms\n");
  nvmlMemory_t memory{};
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo", nvml_->Device(1), &memory), NVML_ERROR_UNKNOWN);
  nvmlMemory_v2_t second{};
  second.version = 0x02000028;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo_v2", nvml_->Device(1), &second),
            NVML_ERROR_UNKNOWN);
  EXPECT_EQ(Temperature(1), NVML_SUCCESS);
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetMemoryInfo", nvml_->Device(0), &memory), NVML_SUCCESS);
}

TEST_F(NvmlFaults, AFaultStrikesTheSecondGpuOfAPairToo) {
  Init();
  machine_.Break("gpu 2 nvmlDeviceGetTopologyCommonAncestor error 999\n");
  unsigned level = 0;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetTopologyCommonAncestor", nvml_->Device(0), nvml_->Device(2),
                        &level),
            NVML_ERROR_UNKNOWN);
}

TEST_F(NvmlFaults, ALostGpuIsStillCountedButHasNoHandle) {
  Init();
  nvmlDevice_t before = nvml_->Device(1);
  machine_.Break("gpu 1 lost\n");
  EXPECT_EQ(nvml_->Count(), 4U);
  nvmlDevice_t device = nullptr;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetHandleByIndex_v2", 1U, &device), NVML_ERROR_GPU_IS_LOST);
  unsigned degrees = 0;
  EXPECT_EQ(nvml_->Call("nvmlDeviceGetTemperature", before, 0U, &degrees), NVML_ERROR_GPU_IS_LOST);
  ASSERT_EQ(nvml_->Call("nvmlShutdown"), NVML_SUCCESS);
  EXPECT_EQ(nvml_->Call("nvmlInit"), NVML_ERROR_GPU_IS_LOST)
      << "the first version fails if any GPU is bad";
  EXPECT_EQ(nvml_->Call("nvmlInit_v2"), NVML_SUCCESS);
}

TEST_F(NvmlFaults, AGpuIsNamedByItsMinorNumberWhateverIsVisible) {
  Machine machine("t4x4");  // the nodes are the other machine's; hide two
  std::filesystem::remove("/dev/nvidia0");
  std::filesystem::remove("/dev/nvidia1");
  const Library nvml(machine.library());
  ASSERT_EQ(nvml.Call("nvmlInit_v2"), NVML_SUCCESS);
  machine.Break("gpu 3 lost\n");
  EXPECT_NE(nvml.Device(0), nullptr);
  EXPECT_EQ(nvml.Device(1), nullptr);
}

TEST_F(NvmlFaults, AnXidWakesAWaiter) {
  Init();
  nvmlEventSet_t set = RegisterXids(2);
  nvmlEventData_t event{};
  nvmlReturn_t waited = NVML_ERROR_UNKNOWN;
  std::thread waiter([&] { waited = nvml_->Call("nvmlEventSetWait_v2", set, &event, 10'000U); });
  machine_.Break("event 1 gpu 2 xid 79\n");
  waiter.join();
  ASSERT_EQ(waited, NVML_SUCCESS);
  EXPECT_EQ(event.device, nvml_->Device(2));
  EXPECT_EQ(event.eventType, kNvmlEventXid);
  EXPECT_EQ(event.eventData, 79U);
  EXPECT_EQ(event.gpuInstanceId, kNvmlNoInstance);
}

TEST_F(NvmlFaults, EventsComeOnceAndInOrder) {
  Init();
  nvmlEventSet_t set = RegisterXids(0);
  machine_.Break("event 5 gpu 0 xid 31\nevent 4 gpu 0 xid 13\nevent 6 gpu 1 xid 79\n");
  nvmlEventData_t event{};
  ASSERT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 0U), NVML_SUCCESS);
  EXPECT_EQ(event.eventData, 13U);
  ASSERT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 0U), NVML_SUCCESS);
  EXPECT_EQ(event.eventData, 31U);
  EXPECT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 0U), NVML_ERROR_TIMEOUT)
      << "GPU 1 was not registered";
}

TEST_F(NvmlFaults, WhatHappenedBeforeRegistrationIsNotDelivered) {
  Init();
  machine_.Break("event 1 gpu 0 xid 79\n");
  nvmlEventSet_t set = RegisterXids(0);
  nvmlEventData_t event{};
  EXPECT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 1U), NVML_ERROR_TIMEOUT);
}

TEST_F(NvmlFaults, OtherKindsOfEventsAreLeftOut) {
  Init();
  nvmlEventSet_t set = RegisterXids(0);
  machine_.Break("event 1 gpu 0 type 0x2 0\n");
  nvmlEventData_t event{};
  EXPECT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 1U), NVML_ERROR_TIMEOUT);
}

TEST_F(NvmlFaults, AWaiterHearsOfALostGpu) {
  Init();
  nvmlEventSet_t set = RegisterXids(1);
  machine_.Break("event 1 gpu 1 xid 79\ngpu 1 lost\n");
  nvmlEventData_t event{};
  EXPECT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 10'000U), NVML_SUCCESS)
      << "its last event comes first";
  EXPECT_EQ(nvml_->Call("nvmlEventSetWait_v2", set, &event, 10'000U), NVML_ERROR_GPU_IS_LOST);
}

TEST_F(NvmlFaults, TheFirstVersionOfWaitLeavesTheInstancesAlone) {
  Init();
  nvmlEventSet_t set = RegisterXids(0);
  machine_.Break("event 1 gpu 0 xid 48\n");
  nvmlEventData_t event{};
  event.gpuInstanceId = 5;
  ASSERT_EQ(nvml_->Call("nvmlEventSetWait", set, &event, 0U), NVML_SUCCESS);
  EXPECT_EQ(event.eventData, 48U);
  EXPECT_EQ(event.gpuInstanceId, 5U);
}

TEST(FaultScript, WhatItWritesIsWhatTheLibraryReads) {
  const Machine machine("t4x4");
  const std::string script =
      BuiltStandIns().string() + "/faults --dir " + machine.folder().string() + " ";
  const Finished ran = Shell(script + "init error 9 && " + script + "gpu 2 hang && " + script +
                             "gpu 1 nvmlDeviceGetName crash && " + script + "lost 3 && " + script +
                             "event 0 0x2 0 && " + script + "show");
  ASSERT_EQ(ran.code, 0) << ran.output;
  Machine broken("t4x4");
  broken.AddAllNodes();
  broken.Break(ran.output);
  const Library nvml(broken.library());
  EXPECT_EQ(nvml.Call("nvmlInit_v2"), NVML_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(Shell(script + "clear && " + script + "show").output, "");
  EXPECT_EQ(Shell(script + "gpu 2 explode").code, 2);
}

}  // namespace
}  // namespace pawl::stand_in
