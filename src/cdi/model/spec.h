// A CDI specification as values: which edits to a container belong to which device.
// spec/container-toolkit.md §5.1. Reading is in read.h, writing in write.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::cdi {

using Annotations = std::vector<std::pair<std::string, std::string>>;  // in the file's order

// A device node. What is not stated is filled by the runtime from the host's node.
struct DeviceNode {
  std::string path;                   // in the container
  std::string host_path;              // empty: the same as `path`
  std::string type;                   // "b", "c", "u", "p"; empty: not stated
  int64_t major = 0;                  // 0: not stated
  int64_t minor = 0;                  // 0: not stated, or 0 where `major` is stated
  std::optional<uint32_t> file_mode;  // permission bits, 0666 = 438
  std::string permissions;            // of the cgroup rule, letters of "rwm"; empty: "rwm"
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;

  bool operator==(const DeviceNode&) const = default;
};

struct Mount {
  std::string host_path;
  std::string container_path;
  std::string type;
  std::vector<std::string> options;

  bool operator==(const Mount&) const = default;
};

struct Hook {
  std::string hook_name;  // "createContainer", …
  std::string path;       // on the host
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::optional<int64_t> timeout;  // seconds

  bool operator==(const Hook&) const = default;
};

struct IntelRdt {
  std::string clos_id;
  std::string l3_cache_schema;
  std::string memory_bandwidth_schema;
  std::vector<std::string> schemata;
  bool enable_monitoring = false;

  bool operator==(const IntelRdt&) const = default;
};

struct NetDevice {
  std::string host_interface_name;
  std::string name;

  bool operator==(const NetDevice&) const = default;
};

struct Edits {
  std::vector<std::string> env;  // "KEY=VALUE"
  std::vector<DeviceNode> device_nodes;
  std::vector<NetDevice> net_devices;
  std::vector<Hook> hooks;
  std::vector<Mount> mounts;
  std::optional<IntelRdt> intel_rdt;
  std::vector<uint32_t> additional_gids;

  bool operator==(const Edits&) const = default;
  bool empty() const { return *this == Edits{}; }
};

struct Device {
  std::string name;
  Annotations annotations;
  Edits edits;

  bool operator==(const Device&) const = default;
};

struct Spec {
  std::string kind;  // "VENDOR/CLASS"
  Annotations annotations;
  std::vector<Device> devices;
  Edits edits;  // for every container that gets one of the devices

  bool operator==(const Spec&) const = default;
};

}  // namespace pawl::cdi
