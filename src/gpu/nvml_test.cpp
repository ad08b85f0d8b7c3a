#include "gpu/nvml.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "gpu/fake_nvml_test.h"
#include "gpu/temporary_folder_test.h"

namespace pawl::gpu {
namespace {

using nvml::Return;

class NvmlBinding : public testing::Test {
 protected:
  NvmlBinding() { FakeNvml::Get() = FakeNvml::FourT4(); }
  ~NvmlBinding() override { FakeNvml::Get() = {}; }
  FakeNvml& fake() { return FakeNvml::Get(); }
  const Nvml nvml_ = LoadFakeNvml();
};

TEST_F(NvmlBinding, TakesTheNewestSymbolThatTheLibraryHas) {  // spec/nvml.md §9, vector 13
  EXPECT_EQ(nvml_.DeviceCount().value(), 4U);
  fake().missing = {"nvmlDeviceGetCount_v2"};
  EXPECT_EQ(nvml_.DeviceCount().value(), 4U);
  EXPECT_EQ(fake().calls,
            (std::vector<std::string>{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}));
}

TEST_F(NvmlBinding, SaysFunctionNotFoundForASymbolThatIsNotThere) {
  fake().missing = {"nvmlDeviceGetMigMode"};
  const auto mode = nvml_.Mig(fake::DeviceAt(0));
  ASSERT_FALSE(mode);
  EXPECT_EQ(mode.error().code, Return::kFunctionNotFound);
  EXPECT_TRUE(IsUnsupported(mode.error().code));
  EXPECT_EQ(mode.error().ToError().message(),
            "nvmlDeviceGetMigMode: function not in this library (13)");
}

TEST_F(NvmlBinding, TellsWhichCallItIsIn) {
  Nvml nvml = LoadFakeNvml();
  std::vector<std::string> calls;
  nvml.set_on_call([&calls](const char* call) { calls.emplace_back(call); });
  ASSERT_TRUE(nvml.Init());
  ASSERT_TRUE(nvml.Name(fake::DeviceAt(1)));
  EXPECT_EQ(calls, (std::vector<std::string>{"nvmlInit_v2", "nvmlDeviceGetName"}));
}

// The library of a test that refuses struct versions.
Return g_refused_up_to = Return::kSuccess;
uint32_t g_refused_version = 0;
Return FabricThatRefuses(nvml::Device, nvml::GpuFabricInfoV2* info) {
  if (info->version >> 24 >= g_refused_version) return g_refused_up_to;
  info->clique_id = 2;
  return Return::kSuccess;
}
Return FabricOld(nvml::Device, nvml::GpuFabricInfo* info) {
  info->clique_id = 1;
  return Return::kSuccess;
}

TEST_F(NvmlBinding, StepsDownToTheFabricStructThatTheLibraryKnows) {
  const Nvml nvml = Nvml::FromResolver([](const char* symbol) -> void* {
    const std::string_view name = symbol;
    if (name == "nvmlDeviceGetGpuFabricInfoV") {
      return reinterpret_cast<void*>(&FabricThatRefuses);
    }
    if (name == "nvmlDeviceGetGpuFabricInfo") return reinterpret_cast<void*>(&FabricOld);
    return nullptr;
  });
  g_refused_up_to = Return::kArgumentVersionMismatch;
  g_refused_version = 3;
  EXPECT_EQ(nvml.Fabric(fake::DeviceAt(0)).value().clique_id, 2U);
  g_refused_version = 2;
  EXPECT_EQ(nvml.Fabric(fake::DeviceAt(0)).value().clique_id, 1U);
  g_refused_up_to = Return::kNotSupported;  // an answer, not a question of versions
  EXPECT_EQ(nvml.Fabric(fake::DeviceAt(0)).error().code, Return::kNotSupported);
}

TEST_F(NvmlBinding, RegistersTheEventsThatTheGpuHas) {  // vector 25
  constexpr uint64_t kWanted = nvml::kXid | nvml::kDoubleBitEcc | nvml::kSingleBitEcc;
  const nvml::EventSet set = nvml_.CreateEventSet().value();
  EXPECT_EQ(nvml_.RegisterEvents(fake::DeviceAt(0), kWanted, set).value(), kWanted);
  fake().supported_events = nvml::kXid;
  EXPECT_EQ(nvml_.RegisterEvents(fake::DeviceAt(0), kWanted, set).value(), nvml::kXid);
  fake().supported_events = 0;
  EXPECT_EQ(nvml_.RegisterEvents(fake::DeviceAt(0), kWanted, set).value(), 0U);
}

TEST_F(NvmlBinding, PresetsTheInstancesThatAnOldLibraryLeavesOut) {
  const auto old = [](nvml::EventSet, nvml::EventData* event, uint32_t) {
    event->type = nvml::kXid;
    return Return::kSuccess;
  };
  Return (*wait)(nvml::EventSet, nvml::EventData*, uint32_t) = old;
  const Nvml nvml = Nvml::FromResolver([wait](const char* symbol) -> void* {
    return std::string_view(symbol) == "nvmlEventSetWait" ? reinterpret_cast<void*>(wait) : nullptr;
  });
  EXPECT_EQ(nvml.WaitForEvent(nullptr, 0).value().gpu_instance, nvml::kNoInstance);
}

TEST(NvmlLibrary, IsSearchedInTheDriverRootWithItsLinksInside) {
  const TemporaryFolder root;
  root.Write("opt/driver/libnvidia-ml.so.550", "");
  ASSERT_TRUE(MakeFolders(root.At("usr/lib/x86_64-linux-gnu")));
  const std::string link = root.At("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
  ASSERT_EQ(symlink("/opt/driver/libnvidia-ml.so.550", link.c_str()), 0);
  EXPECT_EQ(
      LibraryCandidates(root.path()),
      (std::vector<std::string>{root.At("opt/driver/libnvidia-ml.so.550"), "libnvidia-ml.so.1"}));
}

TEST(NvmlLibrary, IsLeftToTheLoaderWithoutADriverRoot) {
  EXPECT_EQ(LibraryCandidates(""), std::vector<std::string>{"libnvidia-ml.so.1"});
}

TEST(NvmlLibrary, ThatDoesNotLoadIsNotFoundAndTheReasonIsOfTheFileThatIsThere) {
  const TemporaryFolder root;
  root.Write("broken.so", "no library");
  const auto loaded = Nvml::Load({root.At("broken.so"), "libpawl-is-not-there.so.1"});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind(), ErrorKind::kNotFound);
  EXPECT_NE(loaded.error().message().find("broken.so"), std::string::npos);
}

TEST(NvmlCodes, SayWhatToDo) {
  EXPECT_TRUE(IsDriverGone(Return::kLibraryVersionMismatch));
  EXPECT_TRUE(IsDriverGone(Return::kDriverNotLoaded));
  EXPECT_TRUE(IsGpuGone(Return::kGpuIsLost));
  EXPECT_TRUE(IsGpuGone(Return::kResetRequired));
  EXPECT_FALSE(IsGpuGone(Return::kUnknown));
  EXPECT_EQ(Describe(Return{12345}), "unknown error (12345)");
}

}  // namespace
}  // namespace pawl::gpu
