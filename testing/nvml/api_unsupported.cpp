// Functions of NVML that exist and that this hardware cannot do: each checks its handle, meets its
// faults, and says code 3. Setters are here as well: nothing about the pretended hardware can be
// changed through NVML.
#include "testing/nvml/session.h"

using namespace pawl::stand_in;

#define PAWL_UNSUPPORTED(NAME, ...)                                                              \
  PAWL_NVML_API nvmlReturn_t NAME(nvmlDevice_t device __VA_OPT__(, ) __VA_ARGS__) {              \
    return OnGpu(#NAME, device,                                                                  \
                 [](const nvmlDevice_st&, const Session&) { return NVML_ERROR_NOT_SUPPORTED; }); \
  }
// The first argument is no GPU.
#define PAWL_UNSUPPORTED_ELSEWHERE(NAME, ...)                                        \
  PAWL_NVML_API nvmlReturn_t NAME(__VA_ARGS__) {                                     \
    return OnSystem(#NAME, [](const Session&) { return NVML_ERROR_NOT_SUPPORTED; }); \
  }

// §3.1
PAWL_UNSUPPORTED_ELSEWHERE(nvmlDeviceDiscoverGpus, nvmlPciInfo_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlDeviceModifyDrainState, nvmlPciInfo_t*, unsigned)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlDeviceQueryDrainState, nvmlPciInfo_t*, unsigned*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlDeviceRemoveGpu, nvmlPciInfo_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlDeviceRemoveGpu_v2, nvmlPciInfo_t*, unsigned, unsigned)
// §3.2
PAWL_UNSUPPORTED(nvmlDeviceGetNumaNodeId, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetHostVgpuMode, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceSetPersistenceMode, unsigned)
PAWL_UNSUPPORTED(nvmlDeviceSetComputeMode, unsigned)
// §3.3
PAWL_UNSUPPORTED(nvmlDeviceSetPowerManagementLimit, unsigned)
PAWL_UNSUPPORTED(nvmlDeviceSetPowerManagementLimit_v2, nvmlPowerValue_v2_t*)
// §3.4
PAWL_UNSUPPORTED(nvmlDeviceSetEccMode, unsigned)
// §3.5
PAWL_UNSUPPORTED(nvmlDeviceResetNvLinkErrorCounters, unsigned)
// §3.6: no instances
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstanceProfileInfo, unsigned, nvmlGpuInstanceProfileInfo_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstanceProfileInfoV, unsigned, nvmlGpuInstanceProfileInfo_v3_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstancePossiblePlacements, unsigned, nvmlGpuInstancePlacement_t*,
                 unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstancePossiblePlacements_v2, unsigned,
                 nvmlGpuInstancePlacement_t*, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstanceRemainingCapacity, unsigned, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceCreateGpuInstance, unsigned, nvmlGpuInstance_t*)
PAWL_UNSUPPORTED(nvmlDeviceCreateGpuInstanceWithPlacement, unsigned,
                 const nvmlGpuInstancePlacement_t*, nvmlGpuInstance_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstances, unsigned, nvmlGpuInstance_t*, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstanceById, unsigned, nvmlGpuInstance_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetMigDeviceHandleByIndex, unsigned, nvmlDevice_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, nvmlDevice_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetGpuInstanceId, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetComputeInstanceId, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetAttributes, nvmlDeviceAttributes_t*)
PAWL_UNSUPPORTED(nvmlDeviceGetAttributes_v2, nvmlDeviceAttributes_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceDestroy, nvmlGpuInstance_t)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceGetInfo, nvmlGpuInstance_t, nvmlGpuInstanceInfo_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceGetComputeInstanceProfileInfo, nvmlGpuInstance_t,
                           unsigned, unsigned, nvmlComputeInstanceProfileInfo_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceGetComputeInstanceProfileInfoV, nvmlGpuInstance_t,
                           unsigned, unsigned, nvmlComputeInstanceProfileInfo_v3_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceCreateComputeInstance, nvmlGpuInstance_t, unsigned,
                           nvmlComputeInstance_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceGetComputeInstances, nvmlGpuInstance_t, unsigned,
                           nvmlComputeInstance_t*, unsigned*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpuInstanceGetComputeInstanceById, nvmlGpuInstance_t, unsigned,
                           nvmlComputeInstance_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlComputeInstanceDestroy, nvmlComputeInstance_t)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlComputeInstanceGetInfo_v2, nvmlComputeInstance_t,
                           nvmlComputeInstanceInfo_t*)
// §3.9: no profiling counters
PAWL_UNSUPPORTED(nvmlGpmQueryDeviceSupport, nvmlGpmSupport_t*)
PAWL_UNSUPPORTED(nvmlGpmSampleGet, nvmlGpmSample_t)
PAWL_UNSUPPORTED(nvmlGpmMigSampleGet, unsigned, nvmlGpmSample_t)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpmSampleAlloc, nvmlGpmSample_t*)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpmSampleFree, nvmlGpmSample_t)
PAWL_UNSUPPORTED_ELSEWHERE(nvmlGpmMetricsGet, nvmlGpmMetricsGet_t*)
// §3.10: neither guest nor host of vGPUs
PAWL_UNSUPPORTED(nvmlDeviceGetSupportedVgpus, unsigned*, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetCreatableVgpus, unsigned*, unsigned*)
PAWL_UNSUPPORTED(nvmlDeviceGetActiveVgpus, unsigned*, unsigned*)

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(
    nvmlDevice_t handle, nvmlGridLicensableFeatures_t* features) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st&, const Session&) {
    return Put(features, nvmlGridLicensableFeatures_t{});
  });
}
