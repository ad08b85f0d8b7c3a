#include "gpu/model.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/text.h"

namespace pawl::gpu {
namespace {

// Reads the members of one JSON object and remembers the first that is wrong.
class ObjectReader {
 public:
  ObjectReader(const json::value& value, std::string path) : path_(std::move(path)) {
    object_ = value.if_object();
    if (object_ == nullptr) Complain("", "an object");
  }

  std::string Text(std::string_view key) {
    const json::value* value = Member(key);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
    Complain(key, "a text");
    return {};
  }

  template <typename T>
  T Number(std::string_view key) {
    const json::value* value = Member(key);
    boost::system::error_code error;
    if (value != nullptr && value->is_number()) {
      const T number = value->to_number<T>(error);
      if (!error) return number;
    }
    Complain(key, "a whole number in range");
    return {};
  }

  bool Flag(std::string_view key) {
    const json::value* value = Member(key);
    if (value != nullptr && value->is_bool()) return value->get_bool();
    Complain(key, "true or false");
    return false;
  }

  bool Has(std::string_view key) const { return Member(key) != nullptr; }

  const json::value* Member(std::string_view key) const {
    return object_ == nullptr ? nullptr : object_->if_contains(key);
  }

  const json::array& Array(std::string_view key) {
    static const json::array kNone;
    const json::value* value = Member(key);
    if (value != nullptr && value->is_array()) return value->get_array();
    Complain(key, "a list");
    return kNone;
  }

  std::string Path(std::string_view key) const { return path_ + "." + std::string(key); }
  const std::optional<Error>& error() const { return error_; }
  void Keep(const Error& error) {
    if (!error_) error_ = error;
  }

 private:
  void Complain(std::string_view key, std::string_view expected) {
    Keep(Error(ErrorKind::kInvalid,
               (key.empty() ? path_ : Path(key)) + ": expected " + std::string(expected)));
  }

  const json::object* object_ = nullptr;
  std::string path_;
  std::optional<Error> error_;
};

json::value ToJsonValue(const Link& link) {
  return {{"a", link.a}, {"b", link.b}, {"pcie_score", link.pcie_score}, {"nvlinks", link.nvlinks}};
}

Result<Gpu> ReadGpuObject(const json::value& value, const std::string& path) {
  ObjectReader reader(value, path);
  Gpu gpu;
  gpu.index = reader.Number<uint32_t>("index");
  gpu.uuid = reader.Text("uuid");
  gpu.name = reader.Text("name");
  gpu.minor = reader.Number<uint32_t>("minor");
  const Result<PciAddress> pci = PciAddress::Parse(reader.Text("pci"));
  if (pci) {
    gpu.pci = *pci;
  } else {
    reader.Keep(pci.error().With(reader.Path("pci")));
  }
  gpu.pci_device_id = reader.Text("pci_device_id");
  if (reader.Has("memory_bytes")) gpu.memory_bytes = reader.Number<uint64_t>("memory_bytes");
  gpu.compute_major = reader.Number<int>("compute_major");
  gpu.compute_minor = reader.Number<int>("compute_minor");
  if (reader.Has("mig_enabled")) gpu.mig_enabled = reader.Flag("mig_enabled");
  if (const json::value* fabric = reader.Member("fabric")) {
    Result<FabricInfo> read = FabricFromJson(*fabric);
    if (read) {
      gpu.fabric = std::move(*read);
    } else {
      reader.Keep(read.error().With(path));
    }
  }
  if (reader.Has("numa_node")) gpu.numa_node = reader.Number<int>("numa_node");
  if (reader.Has("problem")) gpu.problem = reader.Text("problem");
  if (reader.error()) return Fail(*reader.error());
  return gpu;
}

Result<Link> ReadLinkObject(const json::value& value, const std::string& path) {
  ObjectReader reader(value, path);
  Link link;
  link.a = reader.Number<uint32_t>("a");
  link.b = reader.Number<uint32_t>("b");
  link.pcie_score = reader.Number<int>("pcie_score");
  link.nvlinks = reader.Number<int>("nvlinks");
  if (reader.error()) return Fail(*reader.error());
  return link;
}

std::string Item(std::string_view list, size_t number) {
  return std::string(list) + "[" + std::to_string(number) + "]";
}

}  // namespace

std::string PciAddress::ToSysfs() const {
  char text[32];
  snprintf(text, sizeof(text), "%04x:%02x:%02x.0", domain, bus, device);
  return text;
}

Result<PciAddress> PciAddress::Parse(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ':');
  PciAddress address;
  const auto number = [](std::string_view digits, uint32_t& into) {
    const std::optional<uint64_t> value = ParseUnsigned(digits, 16);
    if (!value || *value > std::numeric_limits<uint32_t>::max()) return false;
    into = static_cast<uint32_t>(*value);
    return true;
  };
  if (parts.size() == 3 && number(parts[0], address.domain) && number(parts[1], address.bus) &&
      number(std::string_view(parts[2]).substr(0, parts[2].find('.')), address.device)) {
    return address;
  }
  return Fail(ErrorKind::kInvalid,
              "\"" + std::string(text) + "\" is no PCI address like 0000:3b:00.0");
}

std::string Gpu::DeviceNode() const { return "/dev/nvidia" + std::to_string(minor); }

const Gpu* Snapshot::FindByUuid(std::string_view uuid) const {
  const auto found =
      std::find_if(gpus.begin(), gpus.end(), [uuid](const Gpu& gpu) { return gpu.uuid == uuid; });
  return found == gpus.end() ? nullptr : &*found;
}

json::value ToJsonValue(const FabricInfo& fabric) {
  return {{"cluster_uuid", fabric.cluster_uuid},
          {"clique_id", fabric.clique_id},
          {"attached", fabric.attached}};
}

Result<FabricInfo> FabricFromJson(const json::value& value) {
  ObjectReader reader(value, "fabric");
  FabricInfo fabric;
  fabric.cluster_uuid = reader.Text("cluster_uuid");
  fabric.clique_id = reader.Number<uint32_t>("clique_id");
  fabric.attached = reader.Flag("attached");
  if (reader.error()) return Fail(*reader.error());
  return fabric;
}

json::value ToJsonValue(const Gpu& gpu) {
  json::object object{{"index", gpu.index},       {"uuid", gpu.uuid},
                      {"name", gpu.name},         {"minor", gpu.minor},
                      {"pci", gpu.pci.ToSysfs()}, {"pci_device_id", gpu.pci_device_id}};
  if (gpu.memory_bytes) object["memory_bytes"] = *gpu.memory_bytes;
  object["compute_major"] = gpu.compute_major;
  object["compute_minor"] = gpu.compute_minor;
  if (gpu.mig_enabled) object["mig_enabled"] = *gpu.mig_enabled;
  if (gpu.fabric) object["fabric"] = ToJsonValue(*gpu.fabric);
  if (gpu.numa_node) object["numa_node"] = *gpu.numa_node;
  if (!gpu.problem.empty()) object["problem"] = gpu.problem;
  return object;
}

Result<Gpu> GpuFromJson(const json::value& value) { return ReadGpuObject(value, "gpu"); }

json::value ToJsonValue(const std::vector<Link>& links) {
  json::array array;
  for (const Link& link : links) array.push_back(ToJsonValue(link));
  return array;
}

Result<std::vector<Link>> LinksFromJson(const json::value& value) {
  const json::array* array = value.if_array();
  if (array == nullptr) return Fail(ErrorKind::kInvalid, "links: expected a list");
  std::vector<Link> links;
  for (const json::value& item : *array) {
    const Result<Link> link = ReadLinkObject(item, Item("links", links.size()));
    if (!link) return Fail(link.error());
    links.push_back(*link);
  }
  return links;
}

json::value ToJsonValue(const Snapshot& snapshot) {
  json::array gpus;
  for (const Gpu& gpu : snapshot.gpus) gpus.push_back(ToJsonValue(gpu));
  json::array silent;
  for (const SilentGpu& gpu : snapshot.silent) {
    silent.push_back({{"index", gpu.index}, {"problem", gpu.problem}});
  }
  return {{"driver_version", snapshot.driver_version},
          {"cuda_version", snapshot.cuda_version},
          {"gpus", std::move(gpus)},
          {"links", ToJsonValue(snapshot.links)},
          {"silent", std::move(silent)}};
}

Result<Snapshot> SnapshotFromJson(const json::value& value) {
  ObjectReader reader(value, "snapshot");
  Snapshot snapshot;
  snapshot.driver_version = reader.Text("driver_version");
  snapshot.cuda_version = reader.Number<int>("cuda_version");
  for (const json::value& item : reader.Array("gpus")) {
    Result<Gpu> gpu = ReadGpuObject(item, Item("gpus", snapshot.gpus.size()));
    if (!gpu) return Fail(gpu.error());
    snapshot.gpus.push_back(std::move(*gpu));
  }
  if (const json::value* links = reader.Member("links")) {
    Result<std::vector<Link>> read = LinksFromJson(*links);
    if (!read) return Fail(read.error());
    snapshot.links = std::move(*read);
  }
  for (const Link& link : snapshot.links) {
    if (link.a >= link.b || link.b >= snapshot.gpus.size()) {
      return Fail(ErrorKind::kInvalid, "links: expected a < b, both positions in gpus");
    }
  }
  if (reader.Has("silent")) {
    for (const json::value& item : reader.Array("silent")) {
      ObjectReader gpu(item, Item("silent", snapshot.silent.size()));
      snapshot.silent.push_back(
          SilentGpu{.index = gpu.Number<uint32_t>("index"), .problem = gpu.Text("problem")});
      if (gpu.error()) return Fail(*gpu.error());
    }
  }
  if (reader.error()) return Fail(*reader.error());
  return snapshot;
}

}  // namespace pawl::gpu
