// This machine, read from files below a root: what the resolver asks about and what people mix up.
#pragma once

#include <string>
#include <vector>

#include "compat/input.h"

namespace pawl::compat {

struct Machine {
  std::vector<std::string> gpus;  // PCI ids in bus order; a board twice is there twice
  std::string os_id, os_version, os_name;
  std::string kernel, kernel_build;  // uname -r, uname -v
  std::string kernel_compiler;       // "gcc-12": what the kernel was built with
  std::string host_compiler;         // "gcc-11": what gcc is here; empty where there is none
  std::string platform;              // x86_64, aarch64
  std::string driver;                // of the module that is loaded; empty: none is
  std::string driver_flavour;        // open, proprietary; empty: none is loaded
  bool secure_boot = false;
  std::vector<std::string> cuda_toolkits;  // installed: 12.4.1
  std::vector<std::string> next_kernels;   // installed and newer than the one that runs
  std::optional<std::map<std::string, std::string>> kernel_config;
  bool kubernetes_node = false;  // a kubelet has run here
};

// Never fails: what cannot be read is left empty.
Machine Inspect(const std::string& root);

// The question about a machine as it runs: its loaded driver is checked, on its running kernel.
// Modules are delivered by containers on a Kubernetes node and by packages elsewhere.
Input QuestionAbout(const Machine& machine);

// The same machine after it has booted another of its kernels.
Input AfterReboot(const Input& input, const std::string& kernel);

}  // namespace pawl::compat
