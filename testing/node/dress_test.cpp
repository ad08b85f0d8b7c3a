// A node of the test: an overlay of this machine's root, dressed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing/fixture/machine.h"

namespace pawl::stand_in {
namespace {

using testing::HasSubstr;

// Runs a script in a fresh node whose upper layer is memory; its mounts end with it.
Finished InNode(const std::string& script) {
  const Machine scratch("t4x4");
  const std::string folder = scratch.folder().string();
  std::ofstream(folder + "/script")
      << "set -eu\nexport PAWL_TESTING=" << BuiltStandIns().string() << "\n"
      << script;
  std::ofstream(folder + "/enter")
      << "set -eu\n"
         "mount -t tmpfs tmpfs "
      << folder << "/node\ncd " << folder
      << "/node\nmkdir upper work root\n"
         "mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root\n"
         "mount -t proc proc root/proc\n"
         "mount --rbind /sys root/sys\n"
         "mount -t tmpfs tmpfs root/dev\n"
         "mknod -m 666 root/dev/null c 1 3\n"
         "mount -t tmpfs tmpfs root/run\n"
         "cp "
      << folder << "/script root/run/script\nexec chroot root bash /run/script\n";
  return Shell("mkdir " + folder + "/node && unshare --mount --propagation private bash " + folder +
               "/enter");
}

TEST(Dress, ANodeHasItsGpusAndTheirDriver) {
  const Finished ran = InNode(
      "$PAWL_TESTING/dress t4x4\n"
      "nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader\n"
      "head -1 /proc/driver/nvidia/version\n"
      "cat /sys/bus/pci/devices/0000:86:00.0/numa_node\n"
      "grep -c '^195 nvidia' /proc/devices\n"
      "grep -A1 '^Block devices:$' /proc/devices | head -1\n"
      "readlink -f /usr/lib/x86_64-linux-gnu/libcuda.so\n"
      "ls /lib/firmware/nvidia/550.163.01\n"
      "ldconfig -p | grep -c 'libnvidia-ml.so.1 '\n");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(
      ran.output,
      "00000000:1B:00.0\n00000000:3B:00.0\n00000000:86:00.0\n00000000:AF:00.0\n"
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025\n"
      "1\n3\nBlock devices:\n"
      "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01\n"
      "gsp_ga10x.bin\ngsp_tu10x.bin\n1\n");
}

TEST(Dress, MayBeRepeatedAndChanged) {
  const Finished ran = InNode(
      "$PAWL_TESTING/dress v100x8\n"
      "readlink /dev/dri/by-path/pci-0000:0a:00.0-render\n"
      "$PAWL_TESTING/dress t4x4\n"
      "$PAWL_TESTING/dress t4x4\n"
      "ls -d /dev/nvidia? | wc -l\n"
      "ls /proc/driver/nvidia/gpus | wc -l\n"
      "grep -c '^195 nvidiactl' /proc/devices\n"
      "grep -c ' /proc/devices ' /proc/self/mountinfo\n"
      "ls -d /dev/dri || nvidia-smi -i 0 -L\n");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.output, testing::StartsWith("../renderD130\n4\n4\n1\n1\n"));
  EXPECT_THAT(ran.output,
              HasSubstr("GPU 0: Tesla T4 (UUID: GPU-5a1f6c0e-8d27-4b93-a6e4-1c9f0b7d3e20)"));
}

TEST(Dress, FaultsReachProgramsOfTheNode) {
  const Finished ran = InNode(
      "$PAWL_TESTING/dress t4x4\n"
      "gpu-faults gpu 1 nvmlDeviceGetTemperature error 999\n"
      "nvidia-smi -i 1 --query-gpu=temperature.gpu --format=csv,noheader\n"
      "gpu-faults clear\n"
      "nvidia-smi -i 1 --query-gpu=temperature.gpu --format=csv,noheader\n");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "[Unknown Error]\n34\n");
}

TEST(Dress, RefusesToDressAProfileThatWasNotBuilt) {
  const Finished ran = InNode("$PAWL_TESTING/dress nothing\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.output, HasSubstr("dress: no built profile at"));
}

// Every library has the SONAME that its link has, so that ldconfig and readers of ELF files agree.
TEST(DriverRoot, EverySonameHasItsLink) {
  const Finished ran =
      Shell("cd " + (BuiltProfile("t4x4") / "root/usr/lib/x86_64-linux-gnu").string() +
            "\nfor file in *.so.550.163.01; do\n"
            "  soname=$(readelf -d $file | sed -n 's/.*SONAME.*\\[\\(.*\\)\\]/\\1/p')\n"
            "  [ \"$(readlink -f $soname)\" = \"$PWD/$file\" ] || echo \"$file: SONAME $soname\"\n"
            "done\nls *.so.550.163.01 | wc -l\n");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "26\n");
}

}  // namespace
}  // namespace pawl::stand_in
