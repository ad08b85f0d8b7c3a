#include "cdi/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "cdi/generate/tiny_elf.h"
#include "cdi/generate/write_spec.h"
#include "cdi/model/version.h"

namespace pawl::cdi {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLibraries = "/usr/lib/x86_64-linux-gnu/";
constexpr const char* kVersion = "550.107.02";
constexpr NodeFacts kOpen{195, 0, 0666, 0};

// A driver root with files, and device nodes that need no root rights to make.
class Host {
 public:
  explicit Host(std::string host_name = "/run/nvidia/driver") {
    options.driver = {std::move(host_name), folder.path()};
    options.dev = options.driver;
    options.sys = folder.path();
    options.read_node = [this](const std::string& path) -> std::optional<NodeFacts> {
      const auto found = nodes.find(path);
      if (found == nodes.end()) return std::nullopt;
      return found->second;
    };
  }

  void Node(const std::string& path, NodeFacts facts) { nodes[folder.path() + path] = facts; }
  void File(const std::string& path, const std::string& content = "x") {
    folder.Write(path, content);
  }
  void Library(const std::string& stem, const std::string& soname) {
    File(kLibraries + stem + ".so." + kVersion, TinyElf(soname));
  }
  void Link(const std::string& target, const std::string& path) {
    ASSERT_EQ(symlink(target.c_str(), folder.Path(path).c_str()), 0);
  }

  TemporaryFolder folder;
  std::map<std::string, NodeFacts> nodes;
  GenerateOptions options;
};

gpu::Snapshot Gpus(uint32_t count, const std::string& version = kVersion) {
  gpu::Snapshot snapshot;
  snapshot.driver_version = version;
  for (uint32_t i = 0; i < count; ++i) {
    gpu::Gpu gpu;
    gpu.index = i;
    gpu.minor = i;
    gpu.uuid = "GPU-0000000" + std::to_string(i);
    gpu.pci = {0, 0x3b + i, 0};
    snapshot.gpus.push_back(gpu);
  }
  return snapshot;
}

Spec Generated(const gpu::Snapshot& snapshot, const GenerateOptions& options,
               std::vector<std::string>* warnings = nullptr) {
  std::vector<std::string> ignored;
  Result<Spec> spec = GenerateSpec(snapshot, options, warnings == nullptr ? &ignored : warnings);
  EXPECT_TRUE(spec) << spec.error().message();
  return spec ? *spec : Spec{};
}

std::vector<std::string> Names(const Spec& spec) {
  std::vector<std::string> names;
  for (const Device& device : spec.devices) names.push_back(device.name);
  return names;
}

std::vector<std::string> HookNames(const Spec& spec) {
  std::vector<std::string> names;
  for (const Hook& hook : spec.edits.hooks) names.push_back(hook.args.at(1));
  return names;
}

// spec/container-toolkit.md vectors 26 and 27.
class OneGpu : public testing::Test {
 protected:
  OneGpu() : host("/R") {
    host.File("/lib/x86_64-linux-gnu/libcuda.so.999.88.77");
    host.File("/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77");
    host.Node("/dev/nvidia0", kOpen);
    host.options.names = {NameStrategy::kIndex};
  }
  Host host;
  gpu::Snapshot snapshot = Gpus(1, "999.88.77");
};

TEST_F(OneGpu, HasItsNodeUnderTheHostsNameAndTheDriversFiles) {
  const Spec spec = Generated(snapshot, host.options);
  EXPECT_EQ(MinimumVersion(spec), Version::k0_5_0);
  EXPECT_THAT(Names(spec), ElementsAre("0", "all"));
  for (const Device& device : spec.devices) {
    ASSERT_EQ(device.edits.device_nodes.size(), 1U);
    EXPECT_EQ(device.edits.device_nodes[0].path, "/dev/nvidia0");
    EXPECT_EQ(device.edits.device_nodes[0].host_path, "/R/dev/nvidia0");
    EXPECT_EQ(device.edits.device_nodes[0].file_mode, 438U);
  }
  EXPECT_THAT(spec.edits.env, ElementsAre("NVIDIA_CTK_LIBCUDA_DIR=/lib/x86_64-linux-gnu",
                                          "NVIDIA_VISIBLE_DEVICES=void"));
  ASSERT_EQ(spec.edits.mounts.size(), 2U);
  EXPECT_EQ(spec.edits.mounts[0].host_path, "/R/lib/x86_64-linux-gnu/libcuda.so.999.88.77");
  EXPECT_EQ(spec.edits.mounts[0].container_path, "/lib/x86_64-linux-gnu/libcuda.so.999.88.77");
  EXPECT_THAT(spec.edits.mounts[0].options,
              ElementsAre("ro", "nosuid", "nodev", "rbind", "rprivate"));
}

TEST_F(OneGpu, HasTheHooksInTheirOrder) {
  const Spec spec = Generated(snapshot, host.options);
  ASSERT_EQ(spec.edits.hooks.size(), 5U);
  const auto args = [&](size_t index) { return spec.edits.hooks[index].args; };
  EXPECT_THAT(args(0), ElementsAre("nvidia-cdi-hook", "create-symlinks", "--link",
                                   "libcuda.so.1::/lib/x86_64-linux-gnu/libcuda.so"));
  EXPECT_THAT(args(1), ElementsAre("nvidia-cdi-hook", "enable-cuda-compat",
                                   "--host-driver-version=999.88.77"));
  EXPECT_THAT(args(2),
              ElementsAre("nvidia-cdi-hook", "update-ldcache", "--folder", "/lib/x86_64-linux-gnu",
                          "--folder", "/lib/x86_64-linux-gnu/vdpau"));
  EXPECT_THAT(args(3), ElementsAre("nvidia-cdi-hook", "disable-device-node-modification"));
  EXPECT_THAT(args(4), ElementsAre("nvidia-cdi-hook", "update-application-profile"));
  for (const Hook& hook : spec.edits.hooks) {
    EXPECT_EQ(hook.hook_name, "createContainer");
    EXPECT_EQ(hook.path, "/usr/bin/nvidia-cdi-hook");
    EXPECT_THAT(hook.env, ElementsAre("NVIDIA_CTK_DEBUG=false"));
  }
}

TEST_F(OneGpu, HooksOfAnotherProgramAreReachedThroughItsHookCommand) {
  host.options.hook_path = "/usr/bin/nvidia-ctk";
  const Spec spec = Generated(snapshot, host.options);
  EXPECT_THAT(spec.edits.hooks[3].args,
              ElementsAre("nvidia-ctk", "hook", "disable-device-node-modification"));
}

TEST_F(OneGpu, DisabledHooksAreNotCalled) {
  host.options.hooks = {"update-ldcache"};
  EXPECT_THAT(HookNames(Generated(snapshot, host.options)), ElementsAre("update-ldcache"));
}

// spec/container-toolkit.md vector 24.
TEST_F(OneGpu, AGroupIsAddedWhereOthersMayNotReadAndWrite) {
  struct Case {
    uint32_t mode;
    std::vector<uint32_t> gids;
  };
  for (const Case& tried : {Case{0660, {44}}, Case{0664, {44}}, Case{0666, {}}}) {
    host.Node("/dev/nvidia0", {195, 0, tried.mode, 44});
    const Spec spec = Generated(snapshot, host.options);
    EXPECT_EQ(spec.devices[0].edits.additional_gids, tried.gids) << tried.mode;
    EXPECT_EQ(spec.devices[0].edits.device_nodes[0].gid, 44U);
  }
}

// spec/device-plugin.md vector 37: the folder that holds dev/ decides the nodes' names on the host.
TEST_F(OneGpu, TheDevRootNamesTheNodesOnTheHost) {
  host.options.dev = {"/", host.folder.path()};
  const Spec spec = Generated(snapshot, host.options);
  EXPECT_EQ(spec.devices[0].edits.device_nodes[0].host_path, "");
  EXPECT_EQ(spec.edits.mounts[0].host_path, "/R/lib/x86_64-linux-gnu/libcuda.so.999.88.77");
}

TEST_F(OneGpu, TheVersionIsTakenFromTheLibraryWhereNvmlDoesNotSayIt) {
  snapshot.driver_version.clear();
  EXPECT_EQ(Generated(snapshot, host.options).edits.mounts.size(), 2U);
}

TEST_F(OneGpu, WithoutTheDriversLibrariesThereIsNoSpecification) {
  snapshot.driver_version = "1.2.3";
  const Result<Spec> spec = GenerateSpec(snapshot, host.options);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(spec.error().message(), HasSubstr("no driver library of version 1.2.3"));
}

TEST_F(OneGpu, AMissingControlNodeIsAWarning) {
  std::vector<std::string> warnings;
  (void)Generated(snapshot, host.options, &warnings);
  EXPECT_THAT(warnings, Contains("the control node /dev/nvidiactl is missing"));
}

TEST(GenerateSpec, AGpuWithoutItsNodeIsLeftOutAndTheOthersStay) {
  Host host;
  host.Library("libcuda", "libcuda.so.1");
  host.Node("/dev/nvidia0", kOpen);
  host.Node("/dev/nvidia2", kOpen);
  host.options.names = {NameStrategy::kUuid};
  gpu::Snapshot snapshot = Gpus(3);
  snapshot.gpus[2].problem = "NvmlHung: no answer";  // its node is there: containers keep it
  std::vector<std::string> warnings;
  const Spec spec = Generated(snapshot, host.options, &warnings);
  EXPECT_THAT(Names(spec), ElementsAre("GPU-00000000", "GPU-00000002", "all"));
  EXPECT_THAT(warnings, Contains("the device node /dev/nvidia1 of GPU-00000001 is missing: the "
                                 "GPU is left out"));
}

// A lost GPU is remembered by the index it had, which another has now.
TEST(GenerateSpec, ALostGpuGivesItsNameToTheOneThatWorks) {
  Host host;
  host.Library("libcuda", "libcuda.so.1");
  for (const char* node : {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2"}) host.Node(node, kOpen);
  host.options.names = {NameStrategy::kIndex};
  gpu::Snapshot snapshot = Gpus(3);
  snapshot.gpus[1].problem = "GpuLost: NVML does not list it any more";
  snapshot.gpus[2].index = 1;
  std::vector<std::string> warnings;
  const Spec spec = Generated(snapshot, host.options, &warnings);
  EXPECT_THAT(Names(spec), ElementsAre("0", "1", "all"));
  EXPECT_EQ(spec.devices[1].edits.device_nodes[0].path, "/dev/nvidia2");
  EXPECT_THAT(warnings, Contains("the name \"1\" of GPU-00000001 (GpuLost: NVML does not list it "
                                 "any more) is another GPU's: it is left out"));
  host.options.names = {NameStrategy::kUuid};
  EXPECT_THAT(Names(Generated(snapshot, host.options)),
              ElementsAre("GPU-00000000", "GPU-00000001", "GPU-00000002", "all"));
}

TEST(GenerateSpec, WithoutAnyNodeThereIsNoSpecification) {
  Host host;
  host.Library("libcuda", "libcuda.so.1");
  const Result<Spec> spec = GenerateSpec(Gpus(2), host.options);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().kind(), ErrorKind::kNotFound);
}

TEST(GenerateSpec, NamesFollowTheStrategies) {
  Host host;
  host.Library("libcuda", "libcuda.so.1");
  host.Node("/dev/nvidia0", kOpen);
  host.Node("/dev/nvidia1", kOpen);
  const gpu::Snapshot snapshot = Gpus(2);
  EXPECT_THAT(Names(Generated(snapshot, host.options)),
              ElementsAre("0", "1", "GPU-00000000", "GPU-00000001", "all"));
  host.options.names = {NameStrategy::kTypeIndex};
  host.options.all_device = false;
  EXPECT_THAT(Names(Generated(snapshot, host.options)), ElementsAre("gpu0", "gpu1"));
}

TEST(GenerateSpec, AskedDevicesOnly) {
  Host host;
  host.Library("libcuda", "libcuda.so.1");
  host.Node("/dev/nvidia0", kOpen);
  host.Node("/dev/nvidia1", kOpen);
  host.options.names = {NameStrategy::kIndex};
  gpu::Snapshot snapshot = Gpus(2);
  host.options.device_ids = {"GPU-00000001"};
  EXPECT_THAT(Names(Generated(snapshot, host.options)), ElementsAre("1", "all"));
  host.options.device_ids = {"none"};
  const Spec none = Generated(snapshot, host.options);
  EXPECT_THAT(Names(none), ElementsAre("none"));
  EXPECT_THAT(none.devices[0].edits.env, ElementsAre("NVCT_EMPTY_DEVICE="));
  host.options.device_ids = {"7"};
  EXPECT_FALSE(GenerateSpec(snapshot, host.options));

  snapshot.gpus[0].mig_enabled = true;  // no containers on the whole GPU, unless it is named
  host.options.device_ids = {"all"};
  EXPECT_THAT(Names(Generated(snapshot, host.options)), ElementsAre("1", "all"));
  host.options.device_ids = {"0", "1"};
  EXPECT_THAT(Names(Generated(snapshot, host.options)), ElementsAre("0", "1", "all"));
}

TEST(GenerateSpec, BadNamesOfTheKindAreRefused) {
  Host host;
  host.options.vendor = "1nvidia";
  EXPECT_EQ(GenerateSpec(Gpus(1), host.options).error().kind(), ErrorKind::kInvalid);
}

TEST(GenerateSpec, LinksAreFollowedInsideTheDriverRoot) {
  Host host;
  host.Node("/dev/nvidia0", kOpen);
  // As Debian has it: an absolute link, which must not lead to the files of the machine itself.
  host.Link("/real", "/usr/lib64");
  host.File(std::string("/real/libcuda.so.") + kVersion, TinyElf("libcuda.so.1"));
  host.Link("/etc/alternatives/nvidia-smi", "/usr/bin/nvidia-smi");
  host.Link("/opt/nvidia-smi", "/etc/alternatives/nvidia-smi");
  host.File("/opt/nvidia-smi");
  const Spec spec = Generated(Gpus(1), host.options);
  std::map<std::string, std::string> mounts;
  for (const Mount& mount : spec.edits.mounts) mounts[mount.container_path] = mount.host_path;
  EXPECT_EQ(mounts[std::string("/real/libcuda.so.") + kVersion],
            std::string("/run/nvidia/driver/real/libcuda.so.") + kVersion);
  EXPECT_EQ(mounts["/usr/bin/nvidia-smi"], "/run/nvidia/driver/opt/nvidia-smi");
}

// A node with four T4s as the fixture in testing/ has it, against the file that we reviewed.
class FourT4 : public testing::Test {
 protected:
  FourT4() {
    AddLibraries();
    AddFiles();
    AddNodes();
  }

  void AddLibraries() {
    for (const auto& [stem, soname] : std::map<std::string, std::string>{
             {"libcuda", "libcuda.so.1"},
             {"libnvidia-ml", "libnvidia-ml.so.1"},
             {"libnvidia-ptxjitcompiler", "libnvidia-ptxjitcompiler.so.1"},
             {"libnvidia-opticalflow", "libnvidia-opticalflow.so.1"},
             {"libnvidia-allocator", "libnvidia-allocator.so.1"},
             {"libGLX_nvidia", "libGLX_nvidia.so.0"},
             {"libnvidia-vulkan-producer", "libnvidia-vulkan-producer.so"},
             {"libnvidia-eglcore", std::string("libnvidia-eglcore.so.") + kVersion},
             {"vdpau/libvdpau_nvidia", "libvdpau_nvidia.so.1"}}) {
      host.Library(stem, soname);
    }
    host.Link("libnvidia-ml.so.1", std::string(kLibraries) + "libnvidia-ml.so");
    host.File(std::string(kLibraries) + "libnvidia-nvvm70.so.4", TinyElf("libnvidia-nvvm70.so.4"));
    host.File(std::string(kLibraries) + "libnvidia-egl-gbm.so.1.1.1",
              TinyElf("libnvidia-egl-gbm.so.1"));
    host.File(std::string(kLibraries) + "libc.so.6");
    host.File("/usr/lib/xorg/modules/drivers/nvidia_drv.so");
    host.File(std::string("/usr/lib/xorg/modules/extensions/libglxserver_nvidia.so.") + kVersion);
  }

  void AddFiles() {
    for (const char* path :
         {"/usr/bin/nvidia-smi", "/usr/bin/nvidia-persistenced", "/usr/bin/bash",
          "/lib/firmware/nvidia/550.107.02/gsp_tu10x.bin",
          "/lib/firmware/nvidia/550.107.02/gsp_ga10x.bin",
          "/lib/firmware/nvidia/535.1.1/gsp_ga10x.bin",
          "/usr/share/glvnd/egl_vendor.d/10_nvidia.json", "/etc/vulkan/icd.d/nvidia_icd.json",
          "/etc/OpenCL/vendors/nvidia.icd", "/usr/share/nvidia/nvoptix.bin"}) {
      host.File(path);
    }
    host.Link("usr/bin", "/bin");
    ASSERT_EQ(mkdir(host.folder.Path("/tmp/nvidia-mps").c_str(), 0755), 0);
    MakeSocket("/run/nvidia-persistenced/socket");
  }

  void AddNodes() {
    for (int64_t i = 0; i < 4; ++i) {
      host.Node("/dev/nvidia" + std::to_string(i), {195, i, 0666, 0});
    }
    host.Node("/dev/nvidiactl", {195, 255, 0666, 0});
    host.Node("/dev/nvidia-modeset", {195, 254, 0666, 0});
    host.Node("/dev/nvidia-uvm", {510, 0, 0666, 0});
    host.Node("/dev/nvidia-uvm-tools", {510, 1, 0666, 0});
    host.Node("/dev/dri/card1", {226, 1, 0660, 44});
    host.Node("/dev/dri/renderD128", {226, 128, 0660, 105});
    host.folder.Path("/sys/bus/pci/devices/0000:3b:00.0/drm/card1/");
    host.folder.Path("/sys/bus/pci/devices/0000:3b:00.0/drm/renderD128/");
    host.Link("../card1", "/dev/dri/by-path/pci-0000:3b:00.0-card");
    host.Link("../renderD999", "/dev/dri/by-path/pci-0000:3b:00.0-render");  // not included
  }

  void MakeSocket(const std::string& path) {
    const FileDescriptor socket_file(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string full = host.folder.Path(path);
    ASSERT_LT(full.size(), sizeof address.sun_path);
    full.copy(address.sun_path, full.size());
    ASSERT_EQ(bind(socket_file.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }

  Host host;
};

TEST_F(FourT4, IsAsReviewed) {
  host.options.vendor = "k8s.device-plugin.nvidia.com";
  host.options.names = {NameStrategy::kUuid};
  host.options.all_device = false;
  host.options.hook_path = "/usr/local/nvidia/toolkit/nvidia-cdi-hook";
  const std::string made = SpecText(Generated(Gpus(4), host.options), SpecFormat::kJson);
  const std::string golden = "src/cdi/generate/testdata/t4x4.json";
  const Result<std::string> reviewed = ReadFile(golden);
  if (reviewed && *reviewed == made) return;
  const std::string actual = "/tmp/pawl-t4x4.json";
  ASSERT_TRUE(WriteFileAtomic(actual, made));
  FAIL() << "the specification has changed; review: diff -u " << golden << " " << actual
         << "\nand take it over: cp " << actual << " " << golden;
}

TEST_F(FourT4, IsTheSameEveryTime) {
  EXPECT_EQ(Generated(Gpus(4), host.options), Generated(Gpus(4), host.options));
}

TEST_F(FourT4, WhatIsWrittenIsReadAndNotWrittenAgain) {
  const Spec spec = Generated(Gpus(4), host.options);
  for (const std::string name : {"/out/cdi/a.json", "/out/cdi/a.yaml"}) {
    const std::string path = host.folder.path() + name;
    EXPECT_EQ(*WriteSpec(path, spec), Written::kChanged);
    EXPECT_EQ(*WriteSpec(path, spec), Written::kUnchanged);
    const Result<Spec> read = ReadSpec(path);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, spec);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0644U);
  }
  EXPECT_FALSE(WriteSpec(host.folder.path() + "/out/cdi/a.yml", spec));
}

TEST_F(FourT4, SocketsCanBeLeftOut) {
  host.options.sockets = false;
  for (const Mount& mount : Generated(Gpus(4), host.options).edits.mounts) {
    EXPECT_NE(mount.container_path, "/run/nvidia-persistenced/socket");
    EXPECT_NE(mount.container_path, "/tmp/nvidia-mps");
  }
}

TEST(GenerateSpec, LibrariesInAnUnusualFolderAreFoundByTheSearchPath) {
  Host host;
  host.Node("/dev/nvidia0", kOpen);
  host.File(std::string("/opt/nvidia/lib/libcuda.so.") + kVersion, TinyElf("libcuda.so.1"));
  EXPECT_FALSE(GenerateSpec(Gpus(1), host.options));
  host.options.library_search_paths = {"/opt/nvidia/lib"};
  EXPECT_THAT(Generated(Gpus(1), host.options).edits.env,
              Contains("NVIDIA_CTK_LIBCUDA_DIR=/opt/nvidia/lib"));
}

}  // namespace
}  // namespace pawl::cdi
