// The binary interface of libnvidia-ml.so.1, as far as the stand-in serves it: types, codes and
// layouts, written from spec/nvml.md §2-§6. The program under test has declarations of its own
// (src/gpu); two readings of one specification check each other across dlopen.
//
// Names are NVML's, so that a reader of its manual finds them.
#pragma once

#include <cstddef>
#include <cstdint>

#define PAWL_NVML_API extern "C" __attribute__((visibility("default")))

using NvmlU64 = unsigned long long;

// Opaque handles; valid from the nvmlInit that gave them to the matching nvmlShutdown.
using nvmlDevice_t = struct nvmlDevice_st*;
using nvmlEventSet_t = struct nvmlEventSet_st*;
using nvmlGpuInstance_t = struct nvmlGpuInstance_st*;
using nvmlComputeInstance_t = struct nvmlComputeInstance_st*;
using nvmlGpmSample_t = struct nvmlGpmSample_st*;

enum nvmlReturn_t : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_ALREADY_INITIALIZED = 5,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_INSUFFICIENT_POWER = 8,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_IRQ_ISSUE = 11,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_CORRUPTED_INFOROM = 14,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_RESET_REQUIRED = 16,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_IN_USE = 19,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_NO_DATA = 21,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_NOT_READY = 27,
  NVML_ERROR_GPU_NOT_FOUND = 28,
  NVML_ERROR_UNKNOWN = 999,
};

inline constexpr unsigned kNvmlNoInstance = 0xFFFFFFFF;  // event GI/CI: the whole GPU
inline constexpr unsigned kNvmlMaxLinks = 36;            // NVLinks a GPU may have
inline constexpr NvmlU64 kNvmlEventSingleBitEcc = 0x1;   // event bits
inline constexpr NvmlU64 kNvmlEventDoubleBitEcc = 0x2;
inline constexpr NvmlU64 kNvmlEventXid = 0x8;

// The version word that a caller puts into a versioned struct.
template <typename T>
constexpr unsigned NvmlVersionWord(unsigned version) {
  return static_cast<unsigned>(sizeof(T)) | version << 24;
}

struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;  // device << 16 | vendor
  unsigned pciSubSystemId;
  char busId[32];
};

struct nvmlExcludedDeviceInfo_t {
  nvmlPciInfo_t pciInfo;
  char uuid[80];
};

struct nvmlMemory_t {  // bytes; used contains what the driver reserves
  NvmlU64 total;
  NvmlU64 free;
  NvmlU64 used;
};

struct nvmlMemory_v2_t {
  unsigned version;
  NvmlU64 total;
  NvmlU64 reserved;
  NvmlU64 free;
  NvmlU64 used;
};

struct nvmlBAR1Memory_t {
  NvmlU64 total;
  NvmlU64 free;
  NvmlU64 used;
};

struct nvmlUtilization_t {  // per cent
  unsigned gpu;
  unsigned memory;
};

struct nvmlProcessInfo_v1_t {
  unsigned pid;
  NvmlU64 usedGpuMemory;
};

struct nvmlProcessInfo_t {
  unsigned pid;
  NvmlU64 usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

struct nvmlProcessUtilizationSample_t {
  unsigned pid;
  NvmlU64 timeStamp;
  unsigned smUtil;
  unsigned memUtil;
  unsigned encUtil;
  unsigned decUtil;
};

union nvmlValue_t {
  double dVal;
  int siVal;
  unsigned uiVal;
  unsigned long ulVal;
  NvmlU64 ullVal;
  long long sllVal;
  unsigned short usVal;
};

enum nvmlValueType_t : unsigned {
  NVML_VALUE_TYPE_DOUBLE = 0,
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
  NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
  NVML_VALUE_TYPE_SIGNED_INT = 5,
  NVML_VALUE_TYPE_UNSIGNED_SHORT = 6,
};

struct nvmlSample_t {
  NvmlU64 timeStamp;  // µs
  nvmlValue_t sampleValue;
};

struct nvmlFieldValue_t {
  unsigned fieldId;
  unsigned scopeId;
  long long timestamp;  // µs
  long long latencyUsec;
  nvmlValueType_t valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
};

struct nvmlRowRemapperHistogramValues_t {
  unsigned max;
  unsigned high;
  unsigned partial;
  unsigned low;
  unsigned none;
};

struct nvmlEccSramErrorStatus_v1_t {
  unsigned version;
  NvmlU64 counts[11];
  unsigned bThresholdExceeded;
};

struct nvmlTemperature_v1_t {
  unsigned version;
  unsigned sensorType;
  int temperature;
};

struct nvmlMarginTemperature_v1_t {
  unsigned version;
  int marginTemperature;
};

struct nvmlPowerValue_v2_t {
  unsigned version;
  unsigned powerScope;
  unsigned powerValueMw;
};

struct nvmlDeviceAddressingMode_v1_t {
  unsigned version;
  unsigned value;
};

struct nvmlPlatformInfo_v2_t {
  unsigned version;
  unsigned char ibGuid[16];
  unsigned char chassisSerialNumber[16];
  unsigned char slotNumber;
  unsigned char trayIndex;
  unsigned char hostId;
  unsigned char peerType;
  unsigned char moduleId;
};

struct nvmlRepairStatus_v1_t {
  unsigned version;
  unsigned bChannelRepairPending;
  unsigned bTpcRepairPending;
};

struct nvmlGpuFabricInfo_t {
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned char state;
};

struct nvmlGpuFabricInfo_v2_t {
  unsigned version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
};

struct nvmlGpuFabricInfo_v3_t {
  unsigned version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
  unsigned char healthSummary;
};

struct nvmlDeviceAttributes_t {
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
  unsigned gpuInstanceSliceCount;
  unsigned computeInstanceSliceCount;
  NvmlU64 memorySizeMB;
};

struct nvmlGpuInstancePlacement_t {
  unsigned start;
  unsigned size;
};

struct nvmlGpuInstanceProfileInfo_t {
  unsigned id;
  unsigned isP2pSupported;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned copyEngineCount;
  unsigned decoderCount;
  unsigned encoderCount;
  unsigned jpegCount;
  unsigned ofaCount;
  NvmlU64 memorySizeMB;
};

struct nvmlGpuInstanceProfileInfo_v2_t {
  unsigned version;
  unsigned id;
  unsigned isP2pSupported;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned copyEngineCount;
  unsigned decoderCount;
  unsigned encoderCount;
  unsigned jpegCount;
  unsigned ofaCount;
  NvmlU64 memorySizeMB;
  char name[96];
};

struct nvmlGpuInstanceProfileInfo_v3_t {
  unsigned version;
  unsigned id;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned copyEngineCount;
  unsigned decoderCount;
  unsigned encoderCount;
  unsigned jpegCount;
  unsigned ofaCount;
  NvmlU64 memorySizeMB;
  char name[96];
  unsigned capabilities;
};

struct nvmlGpuInstanceInfo_t {
  nvmlDevice_t device;
  unsigned id;
  unsigned profileId;
  nvmlGpuInstancePlacement_t placement;
};

struct nvmlComputeInstanceProfileInfo_t {
  unsigned id;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
};

struct nvmlComputeInstanceProfileInfo_v2_t {
  unsigned version;
  nvmlComputeInstanceProfileInfo_t same;
  char name[96];
};

struct nvmlComputeInstanceProfileInfo_v3_t {
  unsigned version;
  nvmlComputeInstanceProfileInfo_t same;
  char name[96];
  unsigned capabilities;
};

struct nvmlComputeInstanceInfo_t {
  nvmlDevice_t device;
  nvmlGpuInstance_t gpuInstance;
  unsigned id;
  unsigned profileId;
  nvmlGpuInstancePlacement_t placement;
};

struct nvmlEventData_t {
  nvmlDevice_t device;
  NvmlU64 eventType;
  NvmlU64 eventData;  // the XID's number
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

struct nvmlGpmSupport_t {
  unsigned version;
  unsigned isSupportedDevice;
};

struct nvmlGpmMetric_t {
  unsigned metricId;
  nvmlReturn_t nvmlReturn;
  double value;
  const char* shortName;
  const char* longName;
  const char* unit;
};

struct nvmlGpmMetricsGet_t {
  unsigned version;
  unsigned numMetrics;
  nvmlGpmSample_t sample1;
  nvmlGpmSample_t sample2;
  nvmlGpmMetric_t metrics[333];
};

struct nvmlGridLicenseExpiry_t {
  unsigned year;
  unsigned short month;
  unsigned short day;
  unsigned short hour;
  unsigned short min;
  unsigned short sec;
  unsigned char status;
};

struct nvmlGridLicensableFeature_t {
  unsigned featureCode;
  unsigned featureState;
  char licenseInfo[128];
  char productName[128];
  unsigned featureEnabled;
  nvmlGridLicenseExpiry_t licenseExpiry;
};

struct nvmlGridLicensableFeatures_t {
  int isGridLicenseSupported;
  unsigned licensableFeaturesCount;
  nvmlGridLicensableFeature_t gridLicensableFeatures[3];
};

struct nvmlConfComputeSystemState_t {
  unsigned environment;
  unsigned ccFeature;
  unsigned devToolsMode;
};

struct nvmlConfComputeSystemCaps_t {
  unsigned cpuCaps;
  unsigned gpusCaps;
};

// spec/nvml.md §9, vectors 1 to 12.
static_assert(sizeof(nvmlPciInfo_t) == 68 && offsetof(nvmlPciInfo_t, busId) == 36);
static_assert(sizeof(nvmlExcludedDeviceInfo_t) == 148);
static_assert(sizeof(nvmlMemory_t) == 24 && sizeof(nvmlMemory_v2_t) == 40);
static_assert(offsetof(nvmlMemory_v2_t, reserved) == 16 && offsetof(nvmlMemory_v2_t, used) == 32);
static_assert(NvmlVersionWord<nvmlMemory_v2_t>(2) == 0x02000028 && 0x02000028 == 33554472);
static_assert(sizeof(nvmlFieldValue_t) == 40 && offsetof(nvmlFieldValue_t, valueType) == 24);
static_assert(offsetof(nvmlFieldValue_t, nvmlReturn) == 28 &&
              offsetof(nvmlFieldValue_t, value) == 32);
static_assert(sizeof(nvmlEventData_t) == 32 && offsetof(nvmlEventData_t, gpuInstanceId) == 24);
static_assert(sizeof(nvmlProcessInfo_t) == 24 && sizeof(nvmlProcessInfo_v1_t) == 16);
static_assert(sizeof(nvmlProcessUtilizationSample_t) == 32 && sizeof(nvmlSample_t) == 16);
static_assert(sizeof(nvmlGpuInstanceProfileInfo_t) == 48 &&
              sizeof(nvmlGpuInstanceProfileInfo_v2_t) == 152 &&
              sizeof(nvmlGpuInstanceProfileInfo_v3_t) == 152);
static_assert(offsetof(nvmlGpuInstanceProfileInfo_v2_t, name) == 56 &&
              offsetof(nvmlGpuInstanceProfileInfo_v3_t, name) == 48 &&
              offsetof(nvmlGpuInstanceProfileInfo_v3_t, capabilities) == 144);
static_assert(sizeof(nvmlGpuInstanceInfo_t) == 24 && sizeof(nvmlDeviceAttributes_t) == 40);
static_assert(sizeof(nvmlComputeInstanceInfo_t) == 32);
static_assert(sizeof(nvmlComputeInstanceProfileInfo_v2_t) == 136 &&
              sizeof(nvmlComputeInstanceProfileInfo_v3_t) == 140);
static_assert(sizeof(nvmlGpuFabricInfo_t) == 28 && sizeof(nvmlGpuFabricInfo_v2_t) == 36 &&
              sizeof(nvmlGpuFabricInfo_v3_t) == 40);
static_assert(NvmlVersionWord<nvmlGpuFabricInfo_v2_t>(2) == 0x02000024 &&
              NvmlVersionWord<nvmlGpuFabricInfo_v3_t>(3) == 0x03000028);
static_assert(sizeof(nvmlGridLicensableFeature_t) == 284 &&
              sizeof(nvmlGridLicensableFeatures_t) == 860);
static_assert(sizeof(nvmlGpmMetric_t) == 40 && offsetof(nvmlGpmMetricsGet_t, metrics) == 24 &&
              sizeof(nvmlGpmMetricsGet_t) == 13344);
static_assert(sizeof(nvmlEccSramErrorStatus_v1_t) == 104 &&
              NvmlVersionWord<nvmlEccSramErrorStatus_v1_t>(1) == 0x01000068);
static_assert(NvmlVersionWord<nvmlDeviceAddressingMode_v1_t>(1) == 0x01000008 &&
              NvmlVersionWord<nvmlPlatformInfo_v2_t>(2) == 0x0200002c);
static_assert(NvmlVersionWord<nvmlTemperature_v1_t>(1) == 0x0100000c &&
              NvmlVersionWord<nvmlMarginTemperature_v1_t>(1) == 0x01000008);

// What nvidia-smi calls. The other functions are defined, and described, in api_*.cpp only.
PAWL_NVML_API nvmlReturn_t nvmlInit_v2();
PAWL_NVML_API nvmlReturn_t nvmlShutdown();
PAWL_NVML_API const char* nvmlErrorString(nvmlReturn_t code);
PAWL_NVML_API nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned length);
PAWL_NVML_API nvmlReturn_t nvmlSystemGetNVMLVersion(char* text, unsigned length);
PAWL_NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id,
                                                            nvmlDevice_t* device);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned length);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned length);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char* text, unsigned length);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* text,
                                                     unsigned length);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* minor);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major,
                                                              int* minor);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                                         nvmlUtilization_t* rates);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor,
                                                    unsigned* degrees);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned* percent);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device,
                                                           unsigned* milliwatts);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, unsigned* state);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, unsigned* mode);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, unsigned* mode);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned* current,
                                                unsigned* pending);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned type,
                                                       unsigned counter, NvmlU64* count);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current,
                                                unsigned* pending);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type,
                                                  unsigned* mhz);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type,
                                                     unsigned* mhz);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device,
                                                               unsigned* generation);
PAWL_NVML_API nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* width);
