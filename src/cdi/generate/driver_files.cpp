#include "cdi/generate/driver_files.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace pawl::cdi {
namespace {

// A file that every container finds in the same place, wherever the host has it.
void AddFixed(const Root& driver, const std::vector<std::string>& folders, const std::string& name,
              const std::string& container_folder, Edits& edits) {
  for (const std::string& folder : folders) {
    const std::optional<FoundFile> file = FindFile(driver, Under(folder, name));
    if (!file || KindOf(*file) != FileKind::kRegular) continue;
    edits.mounts.push_back(FileMount(file->host_path, Under(container_folder, name)));
    return;
  }
}

std::string KernelRelease() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "";
}

}  // namespace

Mount FileMount(const std::string& host_path, const std::string& container_path) {
  return {host_path, container_path, "", {"ro", "nosuid", "nodev", "rbind", "rprivate"}};
}

void AddPrograms(const Root& driver, Edits& edits) {
  constexpr std::array<std::string_view, 8> kPrograms = {"nvidia-smi",
                                                         "nvidia-debugdump",
                                                         "nvidia-persistenced",
                                                         "nvidia-cuda-mps-control",
                                                         "nvidia-cuda-mps-server",
                                                         "nvidia-imex",
                                                         "nvidia-imex-ctl",
                                                         "nvidia-xconfig"};
  constexpr std::array<std::string_view, 6> kFolders = {
      "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
  for (const std::string_view program : kPrograms) {
    for (const std::string_view folder : kFolders) {
      const std::string path = Under(folder, program);
      const std::optional<FoundFile> file = FindFile(driver, path);
      if (!file || KindOf(*file) != FileKind::kRegular) continue;
      edits.mounts.push_back(FileMount(file->host_path, path));
      break;
    }
  }
}

void AddFirmware(const Root& driver, const std::string& sys, const std::string& version,
                 Edits& edits) {
  std::vector<std::string> folders;
  const Result<std::string> set_by_user =
      ReadFile(Under(sys, "/sys/module/firmware_class/parameters/path"), 4096);
  if (set_by_user && Trim(*set_by_user).starts_with('/')) {
    folders.emplace_back(Trim(*set_by_user));
  }
  const std::string release = KernelRelease();
  for (const std::string base : {"/lib/firmware/updates", "/lib/firmware"}) {
    if (!release.empty()) folders.push_back(Under(base, release));
    folders.push_back(base);
  }
  const auto matches = [](std::string_view name) {
    return name.starts_with("gsp") && name.ends_with(".bin");
  };
  for (const std::string& folder : folders) {
    const std::string place = Under(folder, "nvidia/" + version);
    const std::vector<FoundFile> files = FindMatches(driver, place, matches);
    for (const FoundFile& file : files) {
      edits.mounts.push_back(FileMount(file.host_path, Under(place, NameOf(file.container_path))));
    }
    if (!files.empty()) return;
  }
}

void AddConfiguration(const Root& driver, const std::vector<std::string>& search_paths,
                      Edits& edits) {
  std::vector<std::string> folders = search_paths;
  for (const char* folder : {"/etc", "/usr/local/share", "/usr/share"}) {
    folders.emplace_back(folder);
  }
  for (const char* name :
       {"glvnd/egl_vendor.d/10_nvidia.json", "egl/egl_external_platform.d/15_nvidia_gbm.json",
        "egl/egl_external_platform.d/10_nvidia_wayland.json",
        "egl/egl_external_platform.d/09_nvidia_wayland2.json",
        "egl/egl_external_platform.d/20_nvidia_xcb.json",
        "egl/egl_external_platform.d/20_nvidia_xlib.json", "nvidia/nvoptix.bin",
        "X11/xorg.conf.d/10-nvidia.conf", "X11/xorg.conf.d/nvidia-drm-outputclass.conf"}) {
    AddFixed(driver, folders, name, "/usr/share", edits);
  }
  AddFixed(driver, folders, "OpenCL/vendors/nvidia.icd", "/etc", edits);
  folders.emplace_back("/");
  for (const char* name :
       {"vulkan/icd.d/nvidia_icd.json", "vulkan/icd.d/nvidia_layers.json",
        "vulkan/icd.d/nvidia_icd.x86_64.json", "vulkan/icd.d/nvidia_icd.aarch64.json",
        "vulkan/implicit_layer.d/nvidia_layers.json"}) {
    AddFixed(driver, folders, name, "/etc", edits);
  }
}

void AddSockets(const Root& driver, Edits& edits) {
  const auto add_first = [&](std::initializer_list<std::string_view> paths, FileKind kind) {
    for (const std::string_view path : paths) {
      const std::optional<FoundFile> file = FindFile(driver, path);
      if (!file || KindOf(*file) != kind) continue;
      edits.mounts.push_back({file->host_path,
                              std::string(path),
                              "",
                              {"nosuid", "nodev", "rbind", "rprivate", "noexec"}});
      return;
    }
  };
  add_first({"/run/nvidia-persistenced/socket", "/var/run/nvidia-persistenced/socket"},
            FileKind::kSocket);
  add_first({"/run/nvidia-fabricmanager/socket", "/var/run/nvidia-fabricmanager/socket"},
            FileKind::kSocket);
  add_first({"/tmp/nvidia-mps"}, FileKind::kDirectory);
}

}  // namespace pawl::cdi
