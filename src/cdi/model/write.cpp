#include "cdi/model/write.h"

#include "cdi/model/version.h"

namespace pawl::cdi {
namespace {

void Put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void Put(json::object& object, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json::array array;
  array.reserve(texts.size());
  for (const std::string& text : texts) array.emplace_back(text);
  object[key] = std::move(array);
}

void Put(json::object& object, std::string_view key, const Annotations& annotations) {
  if (annotations.empty()) return;
  json::object members;
  for (const auto& [name, text] : annotations) members[name] = text;
  object[key] = std::move(members);
}

template <typename T>
void Put(json::object& object, std::string_view key, const std::optional<T>& number) {
  if (number) object[key] = *number;
}

template <typename T, typename Function>
void PutEach(json::object& object, std::string_view key, const std::vector<T>& elements,
             Function convert) {
  if (elements.empty()) return;
  json::array array;
  array.reserve(elements.size());
  for (const T& element : elements) array.emplace_back(convert(element));
  object[key] = std::move(array);
}

json::object NodeObject(const DeviceNode& node) {
  json::object object;
  object["path"] = node.path;
  Put(object, "hostPath", node.host_path);
  Put(object, "type", node.type);
  if (node.major != 0) object["major"] = node.major;
  if (node.minor != 0) object["minor"] = node.minor;
  Put(object, "fileMode", node.file_mode);
  Put(object, "permissions", node.permissions);
  Put(object, "uid", node.uid);
  Put(object, "gid", node.gid);
  return object;
}

json::object NetDeviceObject(const NetDevice& device) {
  json::object object;
  object["hostInterfaceName"] = device.host_interface_name;
  object["name"] = device.name;
  return object;
}

json::object HookObject(const Hook& hook) {
  json::object object;
  object["hookName"] = hook.hook_name;
  object["path"] = hook.path;
  Put(object, "args", hook.args);
  Put(object, "env", hook.env);
  Put(object, "timeout", hook.timeout);
  return object;
}

json::object MountObject(const Mount& mount) {
  json::object object;
  object["hostPath"] = mount.host_path;
  object["containerPath"] = mount.container_path;
  Put(object, "type", mount.type);
  Put(object, "options", mount.options);
  return object;
}

json::object IntelRdtObject(const IntelRdt& rdt) {
  json::object object;
  Put(object, "closID", rdt.clos_id);
  Put(object, "l3CacheSchema", rdt.l3_cache_schema);
  Put(object, "memBwSchema", rdt.memory_bandwidth_schema);
  Put(object, "schemata", rdt.schemata);
  if (rdt.enable_monitoring) object["enableMonitoring"] = true;
  return object;
}

json::object EditsObject(const Edits& edits) {
  json::object object;
  Put(object, "env", edits.env);
  PutEach(object, "deviceNodes", edits.device_nodes, NodeObject);
  PutEach(object, "netDevices", edits.net_devices, NetDeviceObject);
  PutEach(object, "hooks", edits.hooks, HookObject);
  PutEach(object, "mounts", edits.mounts, MountObject);
  if (edits.intel_rdt) object["intelRdt"] = IntelRdtObject(*edits.intel_rdt);
  PutEach(object, "additionalGids", edits.additional_gids,
          [](uint32_t gid) { return static_cast<int64_t>(gid); });
  return object;
}

json::object DeviceObject(const Device& device) {
  json::object object;
  object["name"] = device.name;
  Put(object, "annotations", device.annotations);
  object["containerEdits"] = EditsObject(device.edits);
  return object;
}

}  // namespace

json::value ToJsonValue(const Spec& spec) {
  json::object object;
  object["cdiVersion"] = std::string(ToString(MinimumVersion(spec)));
  object["kind"] = spec.kind;
  Put(object, "annotations", spec.annotations);
  PutEach(object, "devices", spec.devices, DeviceObject);
  if (!spec.edits.empty()) object["containerEdits"] = EditsObject(spec.edits);
  return object;
}

}  // namespace pawl::cdi
