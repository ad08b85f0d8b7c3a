// ECC, retired pages, remapped rows: spec/nvml.md §3.4. The memory of these GPUs is sound.
#include "testing/nvml/session.h"

using namespace pawl::stand_in;

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t handle, unsigned* current,
                                                unsigned* pending) {
  return OnGpu(__func__, handle,
               [&](const nvmlDevice_st&, const Session&) { return Put(current, 1, pending, 1); });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t handle, unsigned type,
                                                       unsigned counter, NvmlU64* count) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st&, const Session&) {
    return type > 1 || counter > 1 ? NVML_ERROR_INVALID_ARGUMENT : Put(count, 0);
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t handle, unsigned type,
                                                           unsigned counter, unsigned location,
                                                           NvmlU64* count) {
  constexpr unsigned kDram = 2;
  constexpr unsigned kSram = 7;
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (type > 1 || counter > 1 || location > kSram) return NVML_ERROR_INVALID_ARGUMENT;
    const bool counted = location == kDram || (location == kSram) == device.model->row_remapping;
    return counted ? Put(count, 0) : NVML_ERROR_NOT_SUPPORTED;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t handle,
                                                           nvmlEccSramErrorStatus_v1_t* status) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    constexpr unsigned kWord = NvmlVersionWord<nvmlEccSramErrorStatus_v1_t>(1);
    if (status == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (status->version != kWord) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (!device.model->row_remapping) return NVML_ERROR_NOT_SUPPORTED;
    *status = {.version = kWord, .counts = {}, .bThresholdExceeded = 0};
    return NVML_SUCCESS;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t handle, unsigned cause,
                                                     unsigned* count, NvmlU64*) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (cause > 1) return NVML_ERROR_INVALID_ARGUMENT;
    return device.model->page_retirement ? Put(count, 0) : NVML_ERROR_NOT_SUPPORTED;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t handle, unsigned cause,
                                                        unsigned* count, NvmlU64*, NvmlU64*) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (cause > 1) return NVML_ERROR_INVALID_ARGUMENT;
    return device.model->page_retirement ? Put(count, 0) : NVML_ERROR_NOT_SUPPORTED;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t handle,
                                                                  unsigned* pending) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    return device.model->page_retirement ? Put(pending, 0) : NVML_ERROR_NOT_SUPPORTED;
  });
}

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t handle, unsigned* corrected,
                                                     unsigned* uncorrected, unsigned* pending,
                                                     unsigned* failed) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (!device.model->row_remapping) return NVML_ERROR_NOT_SUPPORTED;
    if (pending == nullptr || failed == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const nvmlReturn_t put = Put(corrected, 0, uncorrected, 0);
    return put == NVML_SUCCESS ? Put(pending, 0, failed, 0) : put;
  });
}

PAWL_NVML_API nvmlReturn_t
nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t handle, nvmlRowRemapperHistogramValues_t* values) {
  constexpr unsigned kBanks = 640;
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (!device.model->row_remapping) return NVML_ERROR_NOT_SUPPORTED;
    return Put(values, nvmlRowRemapperHistogramValues_t{
                           .max = kBanks, .high = 0, .partial = 0, .low = 0, .none = 0});
  });
}
