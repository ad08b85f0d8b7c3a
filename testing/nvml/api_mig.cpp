// MIG as of GPUs that are not partitioned: spec/nvml.md §3.6. A board either cannot do it, and says
// code 3 to all, or has it switched off. Making instances is not pretended yet: switching it on
// needs permission that nobody has.
#include "testing/nvml/session.h"

using namespace pawl::stand_in;

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned* current,
                                                unsigned* pending) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return device.model->mig_capable ? Put(current, 0, pending, 0) : NVML_ERROR_NOT_SUPPORTED;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t handle, unsigned mode,
                                                nvmlReturn_t* activation) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (!device.model->mig_capable) return NVML_ERROR_NOT_SUPPORTED;
    if (mode > 1 || activation == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *activation = mode == 0 ? NVML_SUCCESS : NVML_ERROR_NO_PERMISSION;
    return *activation;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned* is_mig) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(is_mig, 0); });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned* count) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(count, 0); });
}
