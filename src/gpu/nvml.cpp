#include "gpu/nvml.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

#include "base/files.h"

namespace pawl::gpu {

using nvml::Return;

namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr std::array<const char*, 6> kFolders = {
    "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
    "/lib64",     "/lib/x86_64-linux-gnu",     "/lib/aarch64-linux-gnu"};

std::string_view Words(Return code) {
  switch (code) {
    case Return::kSuccess:
      return "success";
    case Return::kUninitialized:
      return "not initialized";
    case Return::kInvalidArgument:
      return "invalid argument";
    case Return::kNotSupported:
      return "not supported";
    case Return::kNoPermission:
      return "no permission";
    case Return::kAlreadyInitialized:
      return "already initialized";
    case Return::kNotFound:
      return "not found";
    case Return::kInsufficientSize:
      return "buffer too small";
    case Return::kInsufficientPower:
      return "power cable missing";
    case Return::kDriverNotLoaded:
      return "driver not loaded";
    case Return::kTimeout:
      return "timeout";
    case Return::kIrqIssue:
      return "interrupt problem";
    case Return::kLibraryNotFound:
      return "library not found";
    case Return::kFunctionNotFound:
      return "function not in this library";
    case Return::kCorruptedInforom:
      return "inforom is corrupted";
    case Return::kGpuIsLost:
      return "GPU is lost";
    case Return::kResetRequired:
      return "GPU needs a reset";
    case Return::kOperatingSystem:
      return "blocked by the operating system";
    case Return::kLibraryVersionMismatch:
      return "driver and library are of different versions";
    case Return::kInUse:
      return "in use";
    case Return::kMemory:
      return "out of memory";
    case Return::kNoData:
      return "no data";
    case Return::kVgpuEccNotSupported:
      return "vGPU with ECC not supported";
    case Return::kInsufficientResources:
      return "not enough resources";
    case Return::kFrequencyNotSupported:
      return "frequency not supported";
    case Return::kArgumentVersionMismatch:
      return "struct version not known";
    case Return::kDeprecated:
      return "deprecated";
    case Return::kNotReady:
      return "not ready";
    case Return::kGpuNotFound:
      return "no GPU found";
    case Return::kInvalidState:
      return "invalid state";
    case Return::kResetTypeNotSupported:
      return "reset type not supported";
    case Return::kUnknown:
      break;
  }
  return "unknown error";
}

}  // namespace

std::string Describe(Return code) {
  return std::string(Words(code)) + " (" + std::to_string(static_cast<int>(code)) + ")";
}

Error NvmlError::ToError() const {
  ErrorKind kind = ErrorKind::kIo;
  if (IsUnsupported(code)) kind = ErrorKind::kUnsupported;
  if (IsDriverGone(code)) kind = ErrorKind::kUnavailable;
  if (code == Return::kNotFound) kind = ErrorKind::kNotFound;
  if (code == Return::kNoPermission) kind = ErrorKind::kPermission;
  return {kind, std::string(call) + ": " + Describe(code)};
}

bool IsUnsupported(Return code) {
  return code == Return::kNotSupported || code == Return::kFunctionNotFound ||
         code == Return::kDeprecated;
}

bool IsDriverGone(Return code) {
  return code == Return::kDriverNotLoaded || code == Return::kLibraryNotFound ||
         code == Return::kLibraryVersionMismatch;
}

bool IsGpuGone(Return code) { return code == Return::kGpuIsLost || code == Return::kResetRequired; }

std::optional<std::string> FindLibrary(const std::string& driver_root) {
  for (const char* folder : kFolders) {
    Result<std::string> found = ResolveUnder(driver_root, Under(folder, kLibrary));
    if (found) return *std::move(found);
  }
  return std::nullopt;
}

std::vector<std::string> LibraryCandidates(const std::string& driver_root) {
  std::vector<std::string> candidates;
  if (!driver_root.empty()) {
    if (auto found = FindLibrary(driver_root)) candidates.push_back(*std::move(found));
  }
  candidates.emplace_back(kLibrary);
  return candidates;
}

Result<Nvml> Nvml::Load(const std::vector<std::string>& candidates) {
  std::string reason = "no library to look for";
  for (const std::string& candidate : candidates) {
    void* handle = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_GLOBAL);
    if (handle == nullptr) {
      // What stands at a path tells more than that the loader has none of that name.
      const char* why = dlerror();
      if (candidate == candidates.front()) reason = why;
      continue;
    }
    Nvml nvml([handle](const char* symbol) { return dlsym(handle, symbol); });
    nvml.library_ = std::shared_ptr<void>(handle, [](void* library) { dlclose(library); });
    return nvml;
  }
  return Fail(ErrorKind::kNotFound, "loading NVML: " + reason);
}

Nvml Nvml::FromResolver(Resolver resolver) { return Nvml(std::move(resolver)); }

template <typename... Parameters>
NvmlStatus Nvml::Call(std::initializer_list<const char*> names, Parameters... arguments) const {
  for (const char* name : names) {
    void* symbol = resolver_(name);
    if (symbol == nullptr) continue;
    if (on_call_) on_call_(name);
    const Return code = reinterpret_cast<Return (*)(Parameters...)>(symbol)(arguments...);
    if (code == Return::kSuccess) return {};
    return tl::unexpected(NvmlError{code, name});
  }
  return tl::unexpected(NvmlError{Return::kFunctionNotFound, *names.begin()});
}

NvmlResult<std::string> Nvml::Text(const char* name, uint32_t size, nvml::Device device) const {
  std::string text(size, '\0');
  const NvmlStatus done = Call({name}, device, text.data(), size);
  if (!done) return tl::unexpected(done.error());
  text.resize(strnlen(text.data(), size));
  return text;
}

NvmlStatus Nvml::Init() const { return Call({"nvmlInit_v2", "nvmlInit"}); }

NvmlStatus Nvml::Shutdown() const { return Call({"nvmlShutdown"}); }

NvmlResult<std::string> Nvml::DriverVersion() const {
  std::string text(nvml::kVersionSize, '\0');
  const NvmlStatus done = Call({"nvmlSystemGetDriverVersion"}, text.data(), nvml::kVersionSize);
  if (!done) return tl::unexpected(done.error());
  text.resize(strnlen(text.data(), text.size()));
  return text;
}

NvmlResult<int> Nvml::CudaDriverVersion() const {
  int version = 0;
  const NvmlStatus done = Call({"nvmlSystemGetCudaDriverVersion"}, &version);
  if (!done) return tl::unexpected(done.error());
  return version;
}

NvmlResult<uint32_t> Nvml::DeviceCount() const {
  uint32_t count = 0;
  const NvmlStatus done = Call({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, &count);
  if (!done) return tl::unexpected(done.error());
  return count;
}

NvmlResult<nvml::Device> Nvml::DeviceByIndex(uint32_t index) const {
  nvml::Device device = nullptr;
  const NvmlStatus done =
      Call({"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, index, &device);
  if (!done) return tl::unexpected(done.error());
  return device;
}

NvmlResult<std::string> Nvml::Name(nvml::Device device) const {
  return Text("nvmlDeviceGetName", nvml::kNameSize, device);
}

NvmlResult<std::string> Nvml::Uuid(nvml::Device device) const {
  return Text("nvmlDeviceGetUUID", nvml::kUuidSize, device);
}

NvmlResult<uint32_t> Nvml::MinorNumber(nvml::Device device) const {
  uint32_t minor = 0;
  const NvmlStatus done = Call({"nvmlDeviceGetMinorNumber"}, device, &minor);
  if (!done) return tl::unexpected(done.error());
  return minor;
}

NvmlResult<nvml::PciInfo> Nvml::Pci(nvml::Device device) const {
  nvml::PciInfo info{};
  const NvmlStatus done =
      Call({"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}, device,
           &info);
  if (!done) return tl::unexpected(done.error());
  return info;
}

NvmlResult<nvml::Memory> Nvml::MemoryOf(nvml::Device device) const {
  nvml::Memory memory{};
  const NvmlStatus done = Call({"nvmlDeviceGetMemoryInfo"}, device, &memory);
  if (!done) return tl::unexpected(done.error());
  return memory;
}

NvmlResult<Nvml::ComputeCapability> Nvml::CudaComputeCapability(nvml::Device device) const {
  ComputeCapability capability;
  const NvmlStatus done =
      Call({"nvmlDeviceGetCudaComputeCapability"}, device, &capability.major, &capability.minor);
  if (!done) return tl::unexpected(done.error());
  return capability;
}

NvmlResult<Nvml::MigMode> Nvml::Mig(nvml::Device device) const {
  uint32_t current = 0;
  uint32_t pending = 0;
  const NvmlStatus done = Call({"nvmlDeviceGetMigMode"}, device, &current, &pending);
  if (!done) return tl::unexpected(done.error());
  return MigMode{.current = current == 1, .pending = pending == 1};
}

template <typename Struct>
NvmlResult<nvml::GpuFabricInfo> Nvml::FabricV(nvml::Device device, uint32_t version) const {
  Struct newer{};
  newer.version = nvml::VersionWord<Struct>(version);
  const NvmlStatus done = Call({"nvmlDeviceGetGpuFabricInfoV"}, device, &newer);
  if (!done) return tl::unexpected(done.error());
  nvml::GpuFabricInfo info{};
  memcpy(info.cluster_uuid, newer.cluster_uuid, sizeof(info.cluster_uuid));
  info.status = newer.status;
  info.clique_id = newer.clique_id;
  info.state = newer.state;
  return info;
}

NvmlResult<nvml::GpuFabricInfo> Nvml::Fabric(nvml::Device device) const {
  const auto unknown_version = [](const NvmlResult<nvml::GpuFabricInfo>& answer) {
    return !answer && (answer.error().code == Return::kArgumentVersionMismatch ||
                       answer.error().code == Return::kFunctionNotFound);
  };
  NvmlResult<nvml::GpuFabricInfo> answer = FabricV<nvml::GpuFabricInfoV3>(device, 3);
  if (unknown_version(answer)) answer = FabricV<nvml::GpuFabricInfoV2>(device, 2);
  if (!unknown_version(answer)) return answer;
  nvml::GpuFabricInfo info{};
  const NvmlStatus done = Call({"nvmlDeviceGetGpuFabricInfo"}, device, &info);
  if (!done) return tl::unexpected(done.error());
  return info;
}

NvmlResult<uint32_t> Nvml::CommonAncestor(nvml::Device a, nvml::Device b) const {
  uint32_t level = 0;
  const NvmlStatus done = Call({"nvmlDeviceGetTopologyCommonAncestor"}, a, b, &level);
  if (!done) return tl::unexpected(done.error());
  return level;
}

NvmlResult<bool> Nvml::NvLinkActive(nvml::Device device, uint32_t link) const {
  uint32_t state = 0;
  const NvmlStatus done = Call({"nvmlDeviceGetNvLinkState"}, device, link, &state);
  if (!done) return tl::unexpected(done.error());
  return state == 1;
}

NvmlResult<nvml::PciInfo> Nvml::NvLinkRemotePci(nvml::Device device, uint32_t link) const {
  nvml::PciInfo info{};
  const NvmlStatus done =
      Call({"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"}, device,
           link, &info);
  if (!done) return tl::unexpected(done.error());
  return info;
}

NvmlResult<nvml::EventSet> Nvml::CreateEventSet() const {
  nvml::EventSet set = nullptr;
  const NvmlStatus done = Call({"nvmlEventSetCreate"}, &set);
  if (!done) return tl::unexpected(done.error());
  return set;
}

NvmlStatus Nvml::FreeEventSet(nvml::EventSet set) const { return Call({"nvmlEventSetFree"}, set); }

NvmlResult<uint64_t> Nvml::RegisterEvents(nvml::Device device, uint64_t wanted,
                                          nvml::EventSet set) const {
  NvmlStatus done = Call({"nvmlDeviceRegisterEvents"}, device, wanted, set);
  if (done) return wanted;
  if (done.error().code != Return::kNotSupported) return tl::unexpected(done.error());
  // One unknown bit and none is registered: ask for what this GPU has.
  uint64_t supported = 0;
  done = Call({"nvmlDeviceGetSupportedEventTypes"}, device, &supported);
  const uint64_t fewer = wanted & supported;
  if (!done || fewer == 0 || fewer == wanted) return uint64_t{0};
  done = Call({"nvmlDeviceRegisterEvents"}, device, fewer, set);
  if (done) return fewer;
  if (IsUnsupported(done.error().code)) return uint64_t{0};
  return tl::unexpected(done.error());
}

NvmlResult<nvml::EventData> Nvml::WaitForEvent(nvml::EventSet set, uint32_t timeout_ms) const {
  nvml::EventData event{};
  // The old form of the call leaves these as they are.
  event.gpu_instance = nvml::kNoInstance;
  event.compute_instance = nvml::kNoInstance;
  const NvmlStatus done =
      Call({"nvmlEventSetWait_v2", "nvmlEventSetWait"}, set, &event, timeout_ms);
  if (!done) return tl::unexpected(done.error());
  return event;
}

}  // namespace pawl::gpu
