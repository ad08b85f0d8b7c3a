#include "cdi/model/read.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "cdi/model/names.h"
#include "cdi/model/version.h"

namespace pawl::cdi {
namespace {

// Keeps the first thing that is wrong; after that, reading goes on without effect.
class Complaint {
 public:
  void At(std::string_view path, std::string_view what) {
    if (error_) return;
    error_.emplace(ErrorKind::kInvalid,
                   path.empty() ? std::string(what) : std::string(path) + ": " + std::string(what));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

// The members of one object. Each is read by its name; Finish complains about what was not read.
class Members {
 public:
  Members(const json::value& value, std::string path, Complaint& complaint)
      : object_(value.if_object()), path_(std::move(path)), complaint_(complaint) {
    if (object_ == nullptr) complaint_.At(path_, "expected an object");
  }

  // nullptr where the member is missing; a missing one that is required is complained about.
  const json::value* Take(std::string_view key, bool required = false) {
    if (object_ == nullptr) return nullptr;
    known_.insert(key);
    const json::value* value = object_->if_contains(key);
    if (value == nullptr && required) complaint_.At(PathOf(key), "is required");
    return value;
  }

  void Text(std::string_view key, std::string& out, bool required = false) {
    const json::value* value = Take(key, required);
    if (value == nullptr) return;
    if (!value->is_string()) return complaint_.At(PathOf(key), "expected a string");
    out = std::string(value->get_string());
    if (required && out.empty()) complaint_.At(PathOf(key), "must not be empty");
  }

  void Flag(std::string_view key, bool& out) {
    const json::value* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_bool()) return complaint_.At(PathOf(key), "expected true or false");
    out = value->get_bool();
  }

  void Whole(std::string_view key, int64_t& out) {
    if (const json::value* value = Take(key)) out = Number(*value, PathOf(key));
  }
  void Whole(std::string_view key, std::optional<int64_t>& out) {
    if (const json::value* value = Take(key)) out = Number(*value, PathOf(key));
  }
  void Whole(std::string_view key, std::optional<uint32_t>& out) {
    if (const json::value* value = Take(key)) out = Unsigned32(*value, PathOf(key));
  }

  void Texts(std::string_view key, std::vector<std::string>& out) {
    Each(key, [&](const json::value& element, const std::string& path) {
      if (!element.is_string()) return complaint_.At(path, "expected a string");
      out.emplace_back(element.get_string());
    });
  }

  void Unsigneds(std::string_view key, std::vector<uint32_t>& out) {
    Each(key, [&](const json::value& element, const std::string& path) {
      out.push_back(Unsigned32(element, path));
    });
  }

  template <typename Function>
  void Each(std::string_view key, Function function, bool required = false) {
    const json::value* value = Take(key, required);
    if (value == nullptr || (value->is_null() && !required)) return;
    if (!value->is_array()) return complaint_.At(PathOf(key), "expected a list");
    size_t index = 0;
    for (const json::value& element : value->get_array()) {
      function(element, PathOf(key) + "[" + std::to_string(index++) + "]");
    }
  }

  void Finish() {
    if (object_ == nullptr) return;
    for (const auto& member : *object_) {
      const std::string_view key(member.key());
      if (known_.find(key) == known_.end()) complaint_.At(PathOf(key), "unknown field");
    }
  }

  std::string PathOf(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

 private:
  int64_t Number(const json::value& value, const std::string& path) {
    if (value.is_int64()) return value.get_int64();
    complaint_.At(path, "expected a whole number");
    return 0;
  }
  uint32_t Unsigned32(const json::value& value, const std::string& path) {
    const int64_t number = Number(value, path);
    if (number < 0 || number > std::numeric_limits<uint32_t>::max()) {
      complaint_.At(path, "expected a number from 0 to 4294967295");
      return 0;
    }
    return static_cast<uint32_t>(number);
  }

  const json::object* object_;
  std::string path_;
  Complaint& complaint_;
  std::set<std::string_view> known_;
};

void Check(const Status& status, const std::string& path, Complaint& complaint) {
  if (!status) complaint.At(path, status.error().message());
}

void ReadAnnotations(Members& members, Annotations& annotations, Complaint& complaint) {
  const json::value* value = members.Take("annotations");
  if (value == nullptr || value->is_null()) return;
  const std::string path = members.PathOf("annotations");
  if (!value->is_object()) return complaint.At(path, "expected an object");
  for (const auto& member : value->get_object()) {
    const std::string key(member.key());
    if (!member.value().is_string()) {
      return complaint.At(path + "." + key, "expected a string");
    }
    annotations.emplace_back(key, std::string(member.value().get_string()));
  }
}

DeviceNode ReadNode(const json::value& value, const std::string& path, Complaint& complaint) {
  Members members(value, path, complaint);
  DeviceNode node;
  members.Text("path", node.path, true);
  members.Text("hostPath", node.host_path);
  members.Text("type", node.type);
  members.Whole("major", node.major);
  members.Whole("minor", node.minor);
  members.Whole("fileMode", node.file_mode);
  members.Text("permissions", node.permissions);
  members.Whole("uid", node.uid);
  members.Whole("gid", node.gid);
  members.Finish();
  if (!node.type.empty() && node.type != "b" && node.type != "c" && node.type != "u" &&
      node.type != "p") {
    complaint.At(members.PathOf("type"), "expected \"b\", \"c\", \"u\" or \"p\"");
  }
  if (node.permissions.find_first_not_of("rwm") != std::string::npos) {
    complaint.At(members.PathOf("permissions"), "may hold \"r\", \"w\" and \"m\" only");
  }
  return node;
}

Mount ReadMount(const json::value& value, const std::string& path, Complaint& complaint) {
  Members members(value, path, complaint);
  Mount mount;
  members.Text("hostPath", mount.host_path, true);
  members.Text("containerPath", mount.container_path, true);
  members.Text("type", mount.type);
  members.Texts("options", mount.options);
  members.Finish();
  return mount;
}

Hook ReadHook(const json::value& value, const std::string& path, Complaint& complaint) {
  constexpr std::array<std::string_view, 6> kNames = {
      "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"};
  Members members(value, path, complaint);
  Hook hook;
  members.Text("hookName", hook.hook_name, true);
  members.Text("path", hook.path, true);
  members.Texts("args", hook.args);
  members.Texts("env", hook.env);
  members.Whole("timeout", hook.timeout);
  members.Finish();
  if (std::find(kNames.begin(), kNames.end(), hook.hook_name) == kNames.end()) {
    complaint.At(members.PathOf("hookName"), "unknown hook \"" + hook.hook_name + "\"");
  }
  for (const std::string& entry : hook.env) {
    if (entry.find('=') == std::string::npos) {
      complaint.At(members.PathOf("env"), "\"" + entry + "\" must have the form KEY=VALUE");
    }
  }
  return hook;
}

IntelRdt ReadIntelRdt(const json::value& value, const std::string& path, Complaint& complaint) {
  Members members(value, path, complaint);
  IntelRdt rdt;
  members.Text("closID", rdt.clos_id);
  members.Text("l3CacheSchema", rdt.l3_cache_schema);
  members.Text("memBwSchema", rdt.memory_bandwidth_schema);
  members.Texts("schemata", rdt.schemata);
  members.Flag("enableMonitoring", rdt.enable_monitoring);
  members.Finish();
  return rdt;
}

void ReadNetDevices(Members& members, std::vector<NetDevice>& devices, Complaint& complaint) {
  members.Each("netDevices", [&](const json::value& element, const std::string& path) {
    Members device_members(element, path, complaint);
    NetDevice device;
    device_members.Text("hostInterfaceName", device.host_interface_name, true);
    device_members.Text("name", device.name, true);
    device_members.Finish();
    for (const NetDevice& other : devices) {
      if (other.host_interface_name == device.host_interface_name || other.name == device.name) {
        complaint.At(path, "the interface or its name stands here a second time");
      }
    }
    devices.push_back(std::move(device));
  });
}

Edits ReadEdits(const json::value& value, const std::string& path, Complaint& complaint) {
  Members members(value, path, complaint);
  Edits edits;
  members.Texts("env", edits.env);
  for (const std::string& entry : edits.env) {
    if (entry.find('=') == std::string::npos || entry.front() == '=') {
      complaint.At(members.PathOf("env"), "\"" + entry + "\" must have the form KEY=VALUE");
    }
  }
  members.Each("deviceNodes", [&](const json::value& element, const std::string& place) {
    edits.device_nodes.push_back(ReadNode(element, place, complaint));
  });
  ReadNetDevices(members, edits.net_devices, complaint);
  members.Each("hooks", [&](const json::value& element, const std::string& place) {
    edits.hooks.push_back(ReadHook(element, place, complaint));
  });
  members.Each("mounts", [&](const json::value& element, const std::string& place) {
    edits.mounts.push_back(ReadMount(element, place, complaint));
  });
  if (const json::value* rdt = members.Take("intelRdt"); rdt != nullptr && !rdt->is_null()) {
    edits.intel_rdt = ReadIntelRdt(*rdt, members.PathOf("intelRdt"), complaint);
  }
  members.Unsigneds("additionalGids", edits.additional_gids);
  members.Finish();
  return edits;
}

Device ReadDevice(const json::value& value, const std::string& path, Complaint& complaint) {
  Members members(value, path, complaint);
  Device device;
  members.Text("name", device.name, true);
  ReadAnnotations(members, device.annotations, complaint);
  if (const json::value* edits = members.Take("containerEdits", true)) {
    device.edits = ReadEdits(*edits, members.PathOf("containerEdits"), complaint);
    if (device.edits.empty()) complaint.At(members.PathOf("containerEdits"), "must not be empty");
  }
  members.Finish();
  Check(ValidateDeviceName(device.name), members.PathOf("name"), complaint);
  return device;
}

void CheckVersion(const std::string& text, const Spec& spec, Complaint& complaint) {
  const Result<Version> stated = ParseVersion(text);
  if (!stated) return complaint.At("cdiVersion", stated.error().message());
  const Version needed = MinimumVersion(spec);
  if (needed > *stated) {
    complaint.At("cdiVersion", text + " is stated, but what the file holds needs " +
                                   std::string(ToString(needed)));
  }
}

}  // namespace

Result<Spec> SpecFromJson(const json::value& value) {
  Complaint complaint;
  Members members(value, "", complaint);
  Spec spec;
  std::string version;
  members.Text("cdiVersion", version, true);
  members.Text("kind", spec.kind, true);
  ReadAnnotations(members, spec.annotations, complaint);
  members.Each(
      "devices",
      [&](const json::value& element, const std::string& path) {
        spec.devices.push_back(ReadDevice(element, path, complaint));
      },
      true);
  if (const json::value* edits = members.Take("containerEdits");
      edits != nullptr && !edits->is_null()) {
    spec.edits = ReadEdits(*edits, "containerEdits", complaint);
  }
  members.Finish();
  if (const Result<Kind> kind = ParseKind(spec.kind); !kind) {
    complaint.At("kind", kind.error().message());
  }
  if (spec.devices.empty()) complaint.At("devices", "must hold at least one device");
  std::set<std::string_view> names;
  for (const Device& device : spec.devices) {
    if (!names.insert(device.name).second) {
      complaint.At("devices", "\"" + device.name + "\" stands here a second time");
    }
  }
  CheckVersion(version, spec, complaint);
  if (complaint.error()) return Fail(complaint.error()->With("CDI specification"));
  return spec;
}

}  // namespace pawl::cdi
