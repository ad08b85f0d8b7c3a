// Where the driver's files are: on the host, or in the root that a driver container made
// (spec/device-plugin.md §4, spec/operator.md §11).
#pragma once

#include <optional>
#include <string>

namespace pawl::agent {

struct DriverRoot {
  bool on_host = true;   // else by a driver container
  std::string host;      // the root as the host names it: "/", "/run/nvidia/driver"
  std::string view;      // and as we see it: "/host", "/host/run/nvidia/driver"
  std::string host_dev;  // the folder that holds dev/, in the same two ways
  std::string view_dev;
  std::string library;  // the NVML library as we see it, links followed

  bool operator==(const DriverRoot&) const = default;
};

// The host's own driver first. Nothing where neither has libnvidia-ml.so.1.
std::optional<DriverRoot> FindDriverRoot(const std::string& host_root,
                                         const std::string& driver_install_dir);

// The content of the validation file driver-ready: five lines for shells to source.
std::string DriverReadyText(const DriverRoot& root);

}  // namespace pawl::agent
