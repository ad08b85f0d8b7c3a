// NVML's binary interface, in our own declarations (spec/nvml.md §2, §4, §5): what is written here
// is the layout that the library has on x86-64 and aarch64, held by the asserts below each struct.
// NVIDIA's header is not needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pawl::gpu::nvml {

enum class Return : int32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibraryVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFrequencyNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kResetTypeNotSupported = 30,
  kUnknown = 999,
};

// Opaque pointers into the library, good until the matching shutdown.
using Device = struct DeviceHandle*;
using EventSet = struct EventSetHandle*;
using GpuInstance = struct GpuInstanceHandle*;
using ComputeInstance = struct ComputeInstanceHandle*;
using GpmSample = struct GpmSampleHandle*;

inline constexpr uint32_t kNameSize = 96;
inline constexpr uint32_t kUuidSize = 96;
inline constexpr uint32_t kVersionSize = 80;
inline constexpr uint32_t kMaxNvLinks = 36;
inline constexpr uint32_t kNoInstance = 0xFFFFFFFF;  // an event of the whole GPU

// Event bits.
inline constexpr uint64_t kSingleBitEcc = 0x1;
inline constexpr uint64_t kDoubleBitEcc = 0x2;
inline constexpr uint64_t kXid = 0x8;
inline constexpr uint64_t kRecoveryAction = 0x8000;

// The word that a versioned struct must begin with.
template <typename Struct>
constexpr uint32_t VersionWord(uint32_t version) {
  return static_cast<uint32_t>(sizeof(Struct)) | (version << 24);
}

struct PciInfo {
  char bus_id_legacy[16];
  uint32_t domain;
  uint32_t bus;
  uint32_t device;
  uint32_t pci_device_id;  // device << 16 | vendor
  uint32_t pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct Memory {
  uint64_t total;  // bytes, as the next two
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {
  uint32_t version;
  uint64_t total;
  uint64_t reserved;
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(MemoryV2) == 40 && VersionWord<MemoryV2>(2) == 0x02000028);

union Value {
  double as_double;
  int32_t as_int;
  uint32_t as_u32;
  uint64_t as_u64;
  int64_t as_i64;
  uint16_t as_u16;
};

struct FieldValue {
  uint32_t field_id;
  uint32_t scope_id;
  int64_t timestamp;  // microseconds
  int64_t latency;    // microseconds
  uint32_t value_type;
  Return result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value_type) == 24 &&
              offsetof(FieldValue, result) == 28 && offsetof(FieldValue, value) == 32);

struct EventData {
  Device device;
  uint64_t type;
  uint64_t data;  // the number of an Xid
  uint32_t gpu_instance;
  uint32_t compute_instance;
};
static_assert(sizeof(EventData) == 32 && offsetof(EventData, gpu_instance) == 24);

struct ProcessV1 {
  uint32_t pid;
  uint64_t used_memory;
};
struct Process {
  uint32_t pid;
  uint64_t used_memory;
  uint32_t gpu_instance;
  uint32_t compute_instance;
};
static_assert(sizeof(ProcessV1) == 16 && sizeof(Process) == 24);

struct GpuInstanceProfile {
  uint32_t id;
  uint32_t is_p2p_supported;
  uint32_t slice_count;
  uint32_t instance_count;
  uint32_t multiprocessor_count;
  uint32_t copy_engine_count;
  uint32_t decoder_count;
  uint32_t encoder_count;
  uint32_t jpeg_count;
  uint32_t ofa_count;
  uint64_t memory_mib;
};
struct GpuInstanceProfileV2 {
  uint32_t version;
  uint32_t id;
  uint32_t is_p2p_supported;
  uint32_t slice_count;
  uint32_t instance_count;
  uint32_t multiprocessor_count;
  uint32_t copy_engine_count;
  uint32_t decoder_count;
  uint32_t encoder_count;
  uint32_t jpeg_count;
  uint32_t ofa_count;
  uint64_t memory_mib;
  char name[96];
};
struct GpuInstanceProfileV3 {
  uint32_t version;
  uint32_t id;
  uint32_t slice_count;
  uint32_t instance_count;
  uint32_t multiprocessor_count;
  uint32_t copy_engine_count;
  uint32_t decoder_count;
  uint32_t encoder_count;
  uint32_t jpeg_count;
  uint32_t ofa_count;
  uint64_t memory_mib;
  char name[96];
  uint32_t capabilities;
};
static_assert(sizeof(GpuInstanceProfile) == 48);
static_assert(sizeof(GpuInstanceProfileV2) == 152 && offsetof(GpuInstanceProfileV2, name) == 56);
static_assert(sizeof(GpuInstanceProfileV3) == 152 && offsetof(GpuInstanceProfileV3, name) == 48 &&
              offsetof(GpuInstanceProfileV3, capabilities) == 144);

struct Placement {
  uint32_t start;
  uint32_t size;
};

struct ComputeInstanceState {
  Device device;
  GpuInstance gpu_instance;
  uint32_t id;
  uint32_t profile_id;
  Placement placement;
};
static_assert(sizeof(ComputeInstanceState) == 32);

struct ComputeInstanceProfileV2 {
  uint32_t version;
  uint32_t id;
  uint32_t slice_count;
  uint32_t instance_count;
  uint32_t multiprocessor_count;
  uint32_t shared_copy_engine_count;
  uint32_t shared_decoder_count;
  uint32_t shared_encoder_count;
  uint32_t shared_jpeg_count;
  uint32_t shared_ofa_count;
  char name[96];
};
struct ComputeInstanceProfileV3 {
  uint32_t version;
  uint32_t id;
  uint32_t slice_count;
  uint32_t instance_count;
  uint32_t multiprocessor_count;
  uint32_t shared_copy_engine_count;
  uint32_t shared_decoder_count;
  uint32_t shared_encoder_count;
  uint32_t shared_jpeg_count;
  uint32_t shared_ofa_count;
  char name[96];
  uint32_t capabilities;
};
static_assert(sizeof(ComputeInstanceProfileV2) == 136 && sizeof(ComputeInstanceProfileV3) == 140);

struct GpuFabricInfo {
  uint8_t cluster_uuid[16];
  Return status;
  uint32_t clique_id;
  uint8_t state;  // 0 unsupported, 1 not started, 2 in progress, 3 completed
};
struct GpuFabricInfoV2 {
  uint32_t version;
  uint8_t cluster_uuid[16];
  Return status;
  uint32_t clique_id;
  uint8_t state;
  uint32_t health_mask;
};
struct GpuFabricInfoV3 {
  uint32_t version;
  uint8_t cluster_uuid[16];
  Return status;
  uint32_t clique_id;
  uint8_t state;
  uint32_t health_mask;
  uint8_t health_summary;
};
static_assert(sizeof(GpuFabricInfo) == 28 && sizeof(GpuFabricInfoV2) == 36 &&
              sizeof(GpuFabricInfoV3) == 40);
static_assert(VersionWord<GpuFabricInfoV2>(2) == 0x02000024 &&
              VersionWord<GpuFabricInfoV3>(3) == 0x03000028);

struct GridLicenseExpiry {
  uint32_t year;
  uint16_t month;
  uint16_t day;
  uint16_t hour;
  uint16_t minute;
  uint16_t second;
  uint8_t status;
};
struct GridLicensableFeature {
  uint32_t code;
  uint32_t state;
  char license[128];
  char product_name[128];
  uint32_t enabled;
  GridLicenseExpiry expiry;
};
struct GridLicensableFeatures {
  int32_t is_supported;
  uint32_t count;
  GridLicensableFeature features[3];
};
static_assert(sizeof(GridLicensableFeatures) == 860);

struct GpmMetric {
  uint32_t id;
  Return result;
  double value;
  const char* short_name;
  const char* long_name;
  const char* unit;
};
// The library relies on `count` alone: headers disagree on the length of the array.
struct GpmMetrics {
  uint32_t version;  // plain 1
  uint32_t count;
  GpmSample first;
  GpmSample second;
  GpmMetric metrics[333];
};
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetrics, metrics) == 24 &&
              sizeof(GpmMetrics) == 13344);

struct EccSramErrorStatus {
  uint32_t version;
  uint64_t aggregate_parity;
  uint64_t aggregate_sec_ded;
  uint64_t aggregate_corrected;
  uint64_t volatile_parity;
  uint64_t volatile_sec_ded;
  uint64_t volatile_corrected;
  uint64_t bucket_l2;
  uint64_t bucket_sm;
  uint64_t bucket_pcie;
  uint64_t bucket_mcu;
  uint64_t bucket_other;
  uint32_t threshold_exceeded;
};
static_assert(sizeof(EccSramErrorStatus) == 104 &&
              VersionWord<EccSramErrorStatus>(1) == 0x01000068);

struct AddressingMode {
  uint32_t version;
  uint32_t value;
};
struct PlatformInfo {
  uint32_t version;
  uint8_t ib_guid[16];
  uint8_t chassis_serial_number[16];
  uint8_t slot_number;
  uint8_t tray_index;
  uint8_t host_id;
  uint8_t peer_type;
  uint8_t module_id;
};
static_assert(VersionWord<AddressingMode>(1) == 0x01000008 &&
              VersionWord<PlatformInfo>(2) == 0x0200002c);

}  // namespace pawl::gpu::nvml
