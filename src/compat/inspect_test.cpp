#include "compat/inspect.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "compat/report.h"
#include "compat/testing.h"

namespace pawl::compat {

namespace {

// An Ubuntu 22.04 server with a T4 and driver 520.61.05, whose newest kernel is not booted yet.
class Server {
 public:
  Server() {
    Gpu("0000:3b:00.0", "0x1eb8");
    folder_.Write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
    folder_.Write("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
    folder_.Write("etc/os-release",
                  "ID=ubuntu\nVERSION_ID=\"22.04\"\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\n");
    folder_.Write("proc/sys/kernel/osrelease", "5.15.0-105-generic\n");
    folder_.Write("proc/sys/kernel/version", "#115-Ubuntu SMP\n");
    folder_.Write("proc/version",
                  "Linux version 5.15.0-105-generic (buildd@lcy02) (gcc (Ubuntu "
                  "11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld)\n");
    folder_.Write("sys/module/nvidia/version", "520.61.05\n");
    folder_.Write("proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  520.61.05\n");
    for (const char* kernel :
         {"5.15.0-94-generic", "5.15.0-105-generic", "5.15.0-113-generic", "6.8.0-1032-aws"}) {
      folder_.Write(std::string("boot/vmlinuz-") + kernel, "");
    }
    folder_.Write("usr/local/cuda-12.4/version.json",
                  R"({"cuda": {"name": "CUDA SDK", "version": "12.4.1"}})");
  }

  void Gpu(const std::string& address, const std::string& device) {
    const std::string at = "sys/bus/pci/devices/" + address + "/";
    folder_.Write(at + "vendor", "0x10de\n");
    folder_.Write(at + "class", "0x030200\n");
    folder_.Write(at + "device", device + "\n");
  }

  const TemporaryFolder& folder() const { return folder_; }
  Machine Inspected() const { return Inspect(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST(Inspect, ReadsWhatTheResolverAsksAbout) {
  const Machine machine = Server().Inspected();
  EXPECT_THAT(machine.gpus, testing::ElementsAre("1EB8"));
  EXPECT_EQ(machine.os_id, "ubuntu");
  EXPECT_EQ(machine.os_version, "22.04");
  EXPECT_EQ(machine.kernel, "5.15.0-105-generic");
  EXPECT_EQ(machine.kernel_compiler, "gcc-11");
  EXPECT_EQ(machine.driver, "520.61.05");
  EXPECT_EQ(machine.driver_flavour, "proprietary");
  EXPECT_FALSE(machine.secure_boot);
  EXPECT_THAT(machine.cuda_toolkits, testing::ElementsAre("12.4.1"));
}

TEST(Inspect, OnlyNewerKernelsOfTheSameFlavourAreNext) {
  EXPECT_THAT(Server().Inspected().next_kernels, testing::ElementsAre("5.15.0-113-generic"));
}

TEST(Inspect, SecureBootIsTheFifthByteOfItsVariable) {
  const Server server;
  server.folder().Write("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
                        std::string("\x06\0\0\0\x01", 5));
  EXPECT_TRUE(server.Inspected().secure_boot);
}

TEST(Inspect, AnEmptyFolderIsAMachineOfWhichNothingIsKnown) {
  const TemporaryFolder folder;
  const Machine machine = Inspect(folder.path());
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_TRUE(machine.kernel.empty());
  EXPECT_TRUE(machine.driver.empty());
}

// The outage this exists to prevent: everything is right until the next reboot.
TEST(Inspect, TheNextKernelIsJudgedBeforeTheReboot) {
  const Machine machine = Server().Inspected();
  Input input = QuestionAbout(machine);
  input.today = "2026-12-01";
  const Answer now = Resolve(BuiltInForTests(), input);
  EXPECT_EQ(now.status, AnswerStatus::kOk);
  const NextKernel next{"5.15.0-113-generic",
                        Resolve(BuiltInForTests(), AfterReboot(input, "5.15.0-113-generic"))};
  EXPECT_EQ(next.answer.status, AnswerStatus::kImpossible);
  EXPECT_THAT(next.answer.conflicts, testing::Contains("BREAKAGE:pfn-valid-gpl-ubuntu-5.15"));
  EXPECT_EQ(ExitCode(now, {}), 0);
  EXPECT_EQ(ExitCode(now, {next}), 1);
  const std::string report =
      RenderMachine(BuiltInForTests(), machine, input, now, {next}, Detail::kShort);
  EXPECT_THAT(report, testing::HasSubstr(
                          "WRONG        kernel 5.15.0-113-generic, installed but not booted"));
  EXPECT_THAT(
      report,
      testing::HasSubstr(
          "the driver supports up to 11.8 (what nvidia-smi prints); installed toolkit: 12.4.1"));
}

TEST(Inspect, AKubernetesNodeGetsItsDriverByContainer) {
  const Server server;
  EXPECT_EQ(QuestionAbout(server.Inspected()).mode, "host_packages");
  server.folder().Write("var/lib/kubelet/config.yaml", "");
  EXPECT_EQ(QuestionAbout(server.Inspected()).mode, "container");
}

}  // namespace

}  // namespace pawl::compat
