#include "agent/driver_root.h"

#include "base/files.h"
#include "gpu/nvml.h"

namespace pawl::agent {

std::optional<DriverRoot> FindDriverRoot(const std::string& host_root,
                                         const std::string& driver_install_dir) {
  if (auto library = gpu::FindLibrary(host_root)) {
    return DriverRoot{true, "/", host_root, "/", host_root, *std::move(library)};
  }
  const Result<std::string> view = ResolveUnder(host_root, driver_install_dir);
  if (!view) return std::nullopt;
  auto library = gpu::FindLibrary(*view);
  if (!library) return std::nullopt;
  if (IsDirectory(Under(*view, "dev"))) {
    return DriverRoot{false, driver_install_dir, *view, driver_install_dir, *view, *library};
  }
  return DriverRoot{false, driver_install_dir, *view, "/", host_root, *library};
}

std::string DriverReadyText(const DriverRoot& root) {
  const std::string_view root_in_containers = root.on_host ? "/host" : "/driver-root";
  const std::string_view dev_in_containers =
      !root.on_host && root.host_dev == root.host ? "/driver-root" : "/host";
  std::string text = std::string("IS_HOST_DRIVER=") + (root.on_host ? "true" : "false") + "\n";
  text += "NVIDIA_DRIVER_ROOT=" + root.host + "\n";
  text += "DRIVER_ROOT_CTR_PATH=" + std::string(root_in_containers) + "\n";
  text += "NVIDIA_DEV_ROOT=" + root.host_dev + "\n";
  text += "DEV_ROOT_CTR_PATH=" + std::string(dev_in_containers) + "\n";
  return text;
}

}  // namespace pawl::agent
