// The one narrow binding to NVML: a loaded libnvidia-ml.so.1 and the calls that pawl makes, with
// their symbol fallbacks (spec/nvml.md §1). Any call may block for ever or end the process; only
// the worker process (gpu/worker.h) has one of these.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/result.h"
#include "gpu/nvml_abi.h"

namespace pawl::gpu {

// A call that NVML refused. A symbol that the library lacks is code 13.
struct NvmlError {
  nvml::Return code = nvml::Return::kUnknown;
  const char* call = "";  // the function as the header names it

  Error ToError() const;  // "nvmlDeviceGetName: GPU is lost (15)"
};
template <typename T>
using NvmlResult = tl::expected<T, NvmlError>;
using NvmlStatus = tl::expected<void, NvmlError>;

// "GPU is lost (15)".
std::string Describe(nvml::Return code);

// This hardware or driver cannot do it: codes 3, 13 and 26. Do not ask again.
bool IsUnsupported(nvml::Return code);

// The driver is being replaced or is not there (9, 12, 18): let go of the library and back off.
bool IsDriverGone(nvml::Return code);

// The GPU is out (15, 16): make no other call on it.
bool IsGpuGone(nvml::Return code);

// The library below the root of a driver, in the folders of spec/device-plugin.md §4, links followed
// inside that root: the path as we see it.
std::optional<std::string> FindLibrary(const std::string& driver_root);

// Where to look for the library, in this order: what FindLibrary finds in `driver_root`, where that is not
// empty; then the bare name, for the loader.
std::vector<std::string> LibraryCandidates(const std::string& driver_root);

class Nvml {
 public:
  using Resolver = std::function<void*(const char* symbol)>;  // nullptr: no such symbol

  // The first candidate that loads. kNotFound when none does; the message has the loader's reason
  // for the last one that exists.
  static Result<Nvml> Load(const std::vector<std::string>& candidates);

  // For tests: symbols from anywhere.
  static Nvml FromResolver(Resolver resolver);

  // Called before each call into the library with the function's name.
  void set_on_call(std::function<void(const char*)> on_call) { on_call_ = std::move(on_call); }

  NvmlStatus Init() const;
  NvmlStatus Shutdown() const;
  NvmlResult<std::string> DriverVersion() const;
  NvmlResult<int> CudaDriverVersion() const;
  NvmlResult<uint32_t> DeviceCount() const;

  NvmlResult<nvml::Device> DeviceByIndex(uint32_t index) const;
  NvmlResult<std::string> Name(nvml::Device device) const;
  NvmlResult<std::string> Uuid(nvml::Device device) const;
  NvmlResult<uint32_t> MinorNumber(nvml::Device device) const;
  NvmlResult<nvml::PciInfo> Pci(nvml::Device device) const;
  NvmlResult<nvml::Memory> MemoryOf(nvml::Device device) const;
  struct ComputeCapability {
    int major = 0;
    int minor = 0;
  };
  NvmlResult<ComputeCapability> CudaComputeCapability(nvml::Device device) const;
  struct MigMode {
    bool current = false;
    bool pending = false;
  };
  NvmlResult<MigMode> Mig(nvml::Device device) const;
  // Newest form that the library has and accepts: V with version 3, then 2, then the old call.
  NvmlResult<nvml::GpuFabricInfo> Fabric(nvml::Device device) const;

  NvmlResult<uint32_t> CommonAncestor(nvml::Device a, nvml::Device b) const;  // topology level
  NvmlResult<bool> NvLinkActive(nvml::Device device, uint32_t link) const;
  NvmlResult<nvml::PciInfo> NvLinkRemotePci(nvml::Device device, uint32_t link) const;

  NvmlResult<nvml::EventSet> CreateEventSet() const;
  NvmlStatus FreeEventSet(nvml::EventSet set) const;
  // Registers those of the wanted bits that the GPU supports; the answer is the registered mask, 0
  // when this GPU has none (spec/nvml.md §3.7, §9 vector 25).
  NvmlResult<uint64_t> RegisterEvents(nvml::Device device, uint64_t wanted,
                                      nvml::EventSet set) const;
  NvmlResult<nvml::EventData> WaitForEvent(nvml::EventSet set, uint32_t timeout_ms) const;

 private:
  explicit Nvml(Resolver resolver) : resolver_(std::move(resolver)) {}

  // Calls the first of the symbols that the library has. The parameters are the C function's, to
  // the type.
  template <typename... Parameters>
  NvmlStatus Call(std::initializer_list<const char*> names, Parameters... arguments) const;
  template <typename Struct>
  NvmlResult<nvml::GpuFabricInfo> FabricV(nvml::Device device, uint32_t version) const;
  NvmlResult<std::string> Text(const char* name, uint32_t size, nvml::Device device) const;

  Resolver resolver_;
  std::shared_ptr<void> library_;  // dlclose'd with the last copy
  std::function<void(const char*)> on_call_;
};

}  // namespace pawl::gpu
