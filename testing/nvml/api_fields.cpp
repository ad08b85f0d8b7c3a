// nvmlDeviceGetFieldValues: spec/nvml.md §6. Each field answers for itself; one that the board does
// not have says code 3.
#include <optional>

#include "testing/nvml/readings.h"

using namespace pawl::stand_in;

namespace {

struct FieldValue {
  nvmlValueType_t type = NVML_VALUE_TYPE_UNSIGNED_INT;
  std::uint64_t value = 0;
};

std::optional<FieldValue> U32(std::uint64_t value) {
  return FieldValue{NVML_VALUE_TYPE_UNSIGNED_INT, value};
}
std::optional<FieldValue> U64(std::uint64_t value) {
  return FieldValue{NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, value};
}
std::optional<FieldValue> Margin(unsigned limit, unsigned now) {
  return FieldValue{NVML_VALUE_TYPE_SIGNED_INT, static_cast<std::uint64_t>(limit) - now};
}

std::optional<FieldValue> PowerField(const Model& model, unsigned id) {
  switch (id) {
    case 185:
    case 186:
      return U32(model.power.usage);
    case 187:
      return U32(model.power.min);
    case 188:
      return U32(model.power.max);
    case 189:
    case 190:
    case 192:
      return U32(model.power.limit);
    case 83:
    case 191:
      return U64(EnergyMillijoules(model));
    default:
      return std::nullopt;
  }
}

std::optional<FieldValue> NvLinkField(const nvmlDevice_st& device, unsigned id, unsigned link) {
  const std::size_t links = device.gpu->links.size();
  if (links == 0) return std::nullopt;
  const bool one_link = id >= 161 && id <= 168;
  if (one_link && link >= links) return std::nullopt;
  switch (id) {
    case 38:
    case 45:
    case 52:
    case 59:
    case 138:
    case 139:
    case 140:
    case 141:
    case 161:
    case 162:
    case 163:
      return U64(0);
    case 90:
    case 164:
      return U32(device.model->nvlink_mbps);
    case 91:
      return U32(links);
    case 147: {
      std::uint64_t to_switch = 0;
      for (const NvLink& one : device.gpu->links) to_switch += one.peer == NvLink::kSwitch ? 1 : 0;
      return U32(to_switch);
    }
    case 165:
      return U32(1);
    case 166:
      return U32(device.model->nvlink_version);
    default:
      return std::nullopt;
  }
}

std::optional<FieldValue> HealthField(const Model& model, unsigned id) {
  switch (id) {
    case 1:
    case 2:
      return U32(1);  // ECC is on
    case 3:
    case 4:
    case 5:
    case 6:
      return U64(0);
    case 29:
    case 30:
    case 31:
    case 92:
    case 93:
      return model.page_retirement ? U64(0) : std::nullopt;
    case 142:
    case 143:
    case 144:
    case 145:
      return model.row_remapping ? U32(0) : std::nullopt;
    case 94:
    case 95:
    case 169:
      return U32(0);
    case 74:
    case 75:
    case 76:
    case 77:
    case 78:
    case 79:
      return U64(0);
    case 193:
      return Margin(model.temperatures.shutdown, model.temperatures.now);
    case 194:
      return Margin(model.temperatures.slowdown, model.temperatures.now);
    case 196:
      return Margin(model.temperatures.gpu_max, model.temperatures.now);
    default:
      return std::nullopt;
  }
}

void Answer(const nvmlDevice_st& device, nvmlFieldValue_t& field) {
  std::optional<FieldValue> value = HealthField(*device.model, field.fieldId);
  if (!value) value = PowerField(*device.model, field.fieldId);
  if (!value) value = NvLinkField(device, field.fieldId, field.scopeId);
  field.timestamp = value ? NowMicroseconds() : 0;
  field.latencyUsec = 0;
  field.value = {};
  field.nvmlReturn = value ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  if (!value) return;
  field.valueType = value->type;
  field.value.ullVal = value->value;
}

}  // namespace

PAWL_NVML_API nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count,
                                                    nvmlFieldValue_t* fields) {
  return OnGpu(__func__, handle, [&](const nvmlDevice_st& device, const Session&) {
    if (count < 1 || fields == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; ++i) Answer(device, fields[i]);
    return NVML_SUCCESS;
  });
}
