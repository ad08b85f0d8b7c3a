// A machine with GPUs, as the stand-ins pretend to be: what a profile (testing/profiles/*.yaml)
// says, checked.
//
// Two users share these types: the library libnvidia-ml.so.1, into which one profile is compiled
// (MakeProfile), and the program stand-in-hardware, which reads the YAML and writes that table and
// the kernel-made files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl::stand_in {

struct Clocks {  // MHz
  unsigned graphics = 0;
  unsigned sm = 0;
  unsigned memory = 0;
  unsigned video = 0;
};

struct Temperatures {  // °C
  unsigned now = 0;
  unsigned shutdown = 0;
  unsigned slowdown = 0;
  unsigned gpu_max = 0;
};

struct Power {  // mW
  unsigned usage = 0;
  unsigned limit = 0;
  unsigned min = 0;
  unsigned max = 0;
};

// One kind of board.
struct Model {
  std::string name;
  unsigned brand = 0;         // spec/nvml.md §5
  unsigned architecture = 0;  // spec/nvml.md §5
  int compute_major = 0;
  int compute_minor = 0;
  unsigned pci_device = 0;     // 16 bits; the vendor is 10de
  unsigned pci_subsystem = 0;  // device << 16 | vendor
  unsigned pci_class = 0;      // 24 bits
  std::string vbios;
  std::string board_part;
  std::string inforom_image;
  std::string inforom_oem;
  std::string inforom_ecc;
  std::string inforom_power;
  std::uint64_t memory_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t bar1_bytes = 0;
  Clocks clocks;
  Clocks clocks_max;
  unsigned performance_state = 0;
  Temperatures temperatures;
  Power power;
  unsigned pcie_generation = 0;
  unsigned pcie_width = 0;
  bool gsp = false;
  bool page_retirement = false;  // before Ampere
  bool row_remapping = false;    // Ampere and later
  bool mig_capable = false;
  unsigned nvlink_version = 0;  // spec/nvml.md §5; 0: no NVLink
  unsigned nvlink_mbps = 0;     // per link
  std::uint64_t event_types = 0;
};

// The far end of an NVLink.
struct NvLink {
  static constexpr int kSwitch = -1;
  int peer = kSwitch;  // position in Profile::gpus
};

struct Gpu {
  unsigned model = 0;  // position in Profile::models
  unsigned minor = 0;  // N of /dev/nvidiaN
  std::string uuid;
  std::string serial;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  int numa = 0;            // below 0: unknown
  std::string bridge;      // GPUs with equal text share a PCIe host bridge
  std::string pci_switch;  // the same for one switch; empty: none
  unsigned irq = 0;
  std::vector<NvLink> links;
};

struct Fabric {
  bool present = false;
  std::array<std::uint8_t, 16> cluster{};
  unsigned clique = 0;
};

struct Profile {
  std::string name;
  std::string driver;   // "550.163.01"
  int cuda = 0;         // 12040 is 12.4
  std::string product;  // what DMI calls the machine
  bool drm = false;     // nvidia-drm is loaded: /dev/dri exists
  Fabric fabric;
  std::vector<std::string> numa_cpus;  // a cpu list ("0-15,32-47") for each NUMA node
  std::vector<Model> models;
  std::vector<Gpu> gpus;
};

// The profile that was compiled in. Defined in generated code.
Profile MakeProfile();

}  // namespace pawl::stand_in
