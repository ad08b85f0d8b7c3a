#include "testing/hardware/profile_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

#include "base/text.h"

namespace pawl::stand_in {
namespace {

constexpr std::size_t kMaxLinks = 36;

// yaml-cpp reports by exceptions; so do we inside this file, and ParseProfile makes an Error of
// either.
[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + ": " + why);
}

// A map whose keys must all be asked for.
class Map {
 public:
  Map(const YAML::Node& node, std::string path) : node_(node), path_(std::move(path)) {
    if (!node_.IsMap()) Refuse(path_, "expected a map");
  }

  bool Has(const char* key) const { return node_[key].IsDefined(); }
  std::string PathOf(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  YAML::Node At(const char* key) {
    asked_.insert(key);
    YAML::Node value = node_[key];
    if (!value.IsDefined()) Refuse(PathOf(key), "missing");
    return value;
  }
  template <typename T>
  T Get(const char* key) {
    YAML::Node value = At(key);
    try {
      return value.as<T>();
    } catch (const YAML::Exception& error) {
      Refuse(PathOf(key), error.msg);
    }
  }
  template <typename T>
  T Get(const char* key, T otherwise) {
    return Has(key) ? Get<T>(key) : otherwise;
  }
  Map Sub(const char* key) { return Map(At(key), PathOf(key)); }

  void Done() const {
    for (const auto& entry : node_) {
      const auto key = entry.first.as<std::string>();
      if (!asked_.contains(key)) Refuse(PathOf(key.c_str()), "not a key of a profile");
    }
  }

 private:
  YAML::Node node_;
  std::string path_;
  std::set<std::string> asked_;
};

Clocks ReadClocks(Map map) {
  Clocks clocks{.graphics = map.Get<unsigned>("graphics"),
                .sm = map.Get<unsigned>("sm"),
                .memory = map.Get<unsigned>("memory"),
                .video = map.Get<unsigned>("video")};
  map.Done();
  return clocks;
}

void ReadPci(Map map, Model& model) {
  model.pci_device = map.Get<unsigned>("device");
  model.pci_subsystem = map.Get<unsigned>("subsystem");
  model.pci_class = map.Get<unsigned>("class");
  model.pcie_generation = map.Get<unsigned>("generation");
  if (model.pcie_generation < 1 || model.pcie_generation > 6)
    Refuse(map.PathOf("generation"), "expected 1 to 6");
  model.pcie_width = map.Get<unsigned>("width");
  map.Done();
}

void ReadInforom(Map map, Model& model) {
  model.inforom_image = map.Get<std::string>("image");
  model.inforom_oem = map.Get<std::string>("oem");
  model.inforom_ecc = map.Get<std::string>("ecc");
  model.inforom_power = map.Get<std::string>("power");
  map.Done();
}

void ReadMemory(Map map, Model& model) {
  constexpr std::uint64_t kMiB = 1 << 20;
  model.memory_bytes = map.Get<std::uint64_t>("total") * kMiB;
  model.reserved_bytes = map.Get<std::uint64_t>("reserved") * kMiB;
  model.bar1_bytes = map.Get<std::uint64_t>("bar1") * kMiB;
  map.Done();
}

Temperatures ReadTemperatures(Map map) {
  Temperatures read{.now = map.Get<unsigned>("now"),
                    .shutdown = map.Get<unsigned>("shutdown"),
                    .slowdown = map.Get<unsigned>("slowdown"),
                    .gpu_max = map.Get<unsigned>("gpu_max")};
  map.Done();
  return read;
}

Power ReadPower(Map map) {
  Power power{.usage = map.Get<unsigned>("usage"),
              .limit = map.Get<unsigned>("limit"),
              .min = map.Get<unsigned>("min"),
              .max = map.Get<unsigned>("max")};
  map.Done();
  return power;
}

// `to_switch` is the number of links of each such GPU that end at a switch.
Model ReadModel(Map map, unsigned& to_switch) {
  Model model;
  model.name = map.Get<std::string>("name");
  model.brand = map.Get<unsigned>("brand");
  model.architecture = map.Get<unsigned>("architecture");
  const auto compute = map.Get<std::vector<int>>("compute");
  if (compute.size() != 2) Refuse(map.PathOf("compute"), "expected [major, minor]");
  model.compute_major = compute[0];
  model.compute_minor = compute[1];
  ReadPci(map.Sub("pci"), model);
  model.vbios = map.Get<std::string>("vbios");
  model.board_part = map.Get<std::string>("board_part");
  ReadInforom(map.Sub("inforom"), model);
  ReadMemory(map.Sub("memory_mib"), model);
  model.clocks = ReadClocks(map.Sub("clocks"));
  model.clocks_max = ReadClocks(map.Sub("clocks_max"));
  model.performance_state = map.Get<unsigned>("performance_state");
  model.temperatures = ReadTemperatures(map.Sub("temperatures"));
  model.power = ReadPower(map.Sub("power_mw"));
  model.gsp = map.Get<bool>("gsp");
  model.page_retirement = map.Get<bool>("page_retirement");
  model.row_remapping = map.Get<bool>("row_remapping");
  model.mig_capable = map.Get<bool>("mig_capable");
  model.event_types = map.Get<std::uint64_t>("event_types");
  to_switch = 0;
  if (map.Has("nvlink")) {
    Map nvlink = map.Sub("nvlink");
    model.nvlink_version = nvlink.Get<unsigned>("version");
    model.nvlink_mbps = nvlink.Get<unsigned>("mbps");
    to_switch = nvlink.Get<unsigned>("to_switch", 0);
    nvlink.Done();
  }
  map.Done();
  return model;
}

void ReadBusId(const std::string& text, const std::string& path, Gpu& gpu) {
  char rest = 0;
  const int read =
      std::sscanf(text.c_str(), "%x:%x:%x.0%c", &gpu.domain, &gpu.bus, &gpu.device, &rest);
  if (read != 3 || gpu.bus > 0xff || gpu.device > 0x1f) {
    Refuse(path, "'" + text + "' is no bus id such as 0000:1b:00.0");
  }
}

Gpu ReadGpu(Map map, const std::map<std::string, unsigned>& models) {
  Gpu gpu;
  const auto model = map.Get<std::string>("model");
  const auto found = models.find(model);
  if (found == models.end()) Refuse(map.PathOf("model"), "no model '" + model + "'");
  gpu.model = found->second;
  gpu.minor = map.Get<unsigned>("minor");
  gpu.uuid = map.Get<std::string>("uuid");
  gpu.serial = map.Get<std::string>("serial");
  ReadBusId(map.Get<std::string>("bus"), map.PathOf("bus"), gpu);
  gpu.numa = map.Get<int>("numa");
  gpu.bridge = map.Get<std::string>("bridge");
  gpu.pci_switch = map.Get<std::string>("switch", "");
  gpu.irq = map.Get<unsigned>("irq");
  map.Done();
  return gpu;
}

void ReadLinks(const YAML::Node& node, Profile& profile) {
  for (const YAML::Node& entry : node) {
    const auto link = entry.as<std::vector<unsigned>>();
    if (link.size() != 3 || link[0] == link[1] || link[0] >= profile.gpus.size() ||
        link[1] >= profile.gpus.size()) {
      Refuse("nvlinks", "expected [a, b, number of links] with two positions in gpus");
    }
    for (unsigned i = 0; i < link[2]; ++i) {
      profile.gpus[link[0]].links.push_back({.peer = static_cast<int>(link[1])});
      profile.gpus[link[1]].links.push_back({.peer = static_cast<int>(link[0])});
    }
  }
}

Fabric ReadFabric(Map map) {
  Fabric fabric{.present = true};
  const auto hex = map.Get<std::string>("cluster");
  if (hex.size() != 2 * fabric.cluster.size())
    Refuse(map.PathOf("cluster"), "expected 32 hexadecimal digits");
  for (std::size_t i = 0; i < fabric.cluster.size(); ++i) {
    const auto byte = ParseUnsigned(hex.substr(2 * i, 2), 16);
    if (!byte) Refuse(map.PathOf("cluster"), "expected 32 hexadecimal digits");
    fabric.cluster[i] = static_cast<std::uint8_t>(*byte);
  }
  fabric.clique = map.Get<unsigned>("clique");
  map.Done();
  return fabric;
}

void CheckGpus(const Profile& profile) {
  std::set<unsigned> minors;
  std::set<std::string> names;
  for (const Gpu& gpu : profile.gpus) {
    const std::string bus = fmt::format("{:04x}:{:02x}:{:02x}", gpu.domain, gpu.bus, gpu.device);
    if (!minors.insert(gpu.minor).second)
      Refuse("gpus", fmt::format("two GPUs with minor number {}", gpu.minor));
    if (!names.insert(gpu.uuid).second) Refuse("gpus", "two GPUs with UUID " + gpu.uuid);
    if (!names.insert(bus).second) Refuse("gpus", "two GPUs at " + bus);
    if (gpu.links.size() > kMaxLinks) Refuse("nvlinks", "more than 36 links at " + bus);
    if (gpu.numa >= static_cast<int>(profile.numa_cpus.size()))
      Refuse("numa_cpus", "no entry for a GPU's node");
  }
}

Profile Read(const std::string& name, const std::string& text) {
  Map root(YAML::Load(text), "");
  Profile profile;
  profile.name = name;
  profile.driver = root.Get<std::string>("driver");
  profile.cuda = root.Get<int>("cuda");
  profile.product = root.Get<std::string>("product");
  profile.drm = root.Get<bool>("drm", false);
  profile.numa_cpus = root.Get<std::vector<std::string>>("numa_cpus");
  if (root.Has("fabric")) profile.fabric = ReadFabric(root.Sub("fabric"));

  std::map<std::string, unsigned> models;
  std::vector<unsigned> to_switch;
  for (const auto& entry : root.At("models")) {
    const auto key = entry.first.as<std::string>();
    models[key] = static_cast<unsigned>(profile.models.size());
    profile.models.push_back(
        ReadModel(Map(entry.second, "models." + key), to_switch.emplace_back()));
  }
  for (const YAML::Node& entry : root.At("gpus")) {
    Gpu gpu = ReadGpu(Map(entry, fmt::format("gpus[{}]", profile.gpus.size())), models);
    gpu.links.assign(to_switch[gpu.model], NvLink{});
    profile.gpus.push_back(std::move(gpu));
  }
  if (root.Has("nvlinks")) ReadLinks(root.At("nvlinks"), profile);
  root.Done();
  CheckGpus(profile);
  return profile;
}

}  // namespace

Result<Profile> ParseProfile(const std::string& name, const std::string& text) {
  try {
    return Read(name, text);
  } catch (const std::exception& error) {
    return Fail(ErrorKind::kInvalid, "profile " + name + ": " + error.what());
  }
}

}  // namespace pawl::stand_in
