#include "cdi/generate/libraries.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/text.h"
#include "cdi/generate/elf.h"
#include "cdi/generate/ld_cache.h"

namespace pawl::cdi {
namespace {

template <typename T>
void AddNew(std::vector<T>& list, const T& element) {
  if (std::find(list.begin(), list.end(), element) == list.end()) list.push_back(element);
}

std::vector<std::string> SearchFolders(const std::vector<std::string>& first) {
  std::vector<std::string> folders = first;
  folders.emplace_back("/");
  for (const std::string lib : {"/usr/lib", "/lib"}) {
    folders.push_back(lib + "64");
    for (const std::string_view machine : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
      folders.push_back(Under(lib, machine));
      folders.push_back(Under(folders.back(), "nvidia/current"));
    }
  }
  return folders;
}

// The real folders of those searched, each once.
std::vector<std::string> RealFolders(const Root& root, const std::vector<std::string>& searched) {
  std::vector<std::string> folders;
  for (const std::string& folder : searched) {
    const std::optional<FoundFile> real = FindFile(root, folder);
    if (real && KindOf(*real) == FileKind::kDirectory) AddNew(folders, real->container_path);
  }
  return folders;
}

std::vector<std::string> FoldersOfLoaderCache(const Root& root) {
  const std::optional<FoundFile> cache = FindFile(root, "/etc/ld.so.cache");
  if (!cache) return {};
  const Result<std::string> bytes = ReadFile(cache->view_path);
  if (!bytes) return {};
  const Result<std::vector<LdCacheEntry>> entries = ParseLdCache(*bytes);
  if (!entries) return {};
  std::vector<std::string> folders;
  for (const LdCacheEntry& entry : *entries) {
    if (!entry.name.starts_with("libcuda.so") && !entry.name.starts_with("libnvidia-ml.so")) {
      continue;
    }
    if (const std::optional<FoundFile> file = FindFile(root, entry.path)) {
      AddNew(folders, FolderOf(file->container_path));
    }
  }
  return folders;
}

// What follows `stem` in a name, where that is a version of at least two parts: "550.107.02".
std::string_view VersionAfter(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return {};
  const std::string_view version = name.substr(stem.size());
  const bool numbers = !version.empty() &&
                       version.find_first_not_of("0123456789.") == std::string_view::npos &&
                       version.front() != '.' && version.back() != '.' &&
                       version.find('.') != std::string_view::npos;
  return numbers ? version : std::string_view{};
}

std::string VersionFromNames(const Root& root, const std::vector<std::string>& folders) {
  for (const std::string_view stem : {"libcuda.so.", "libnvidia-ml.so."}) {
    for (const std::string& folder : folders) {
      const std::vector<FoundFile> files = FindMatches(
          root, folder, [&](std::string_view name) { return !VersionAfter(name, stem).empty(); });
      for (const FoundFile& file : files) {
        const std::string name = NameOf(file.container_path);
        if (const std::string_view version = VersionAfter(name, stem); !version.empty()) {
          return std::string(version);
        }
      }
    }
  }
  return {};
}

bool IsEglPlatform(std::string_view name) {
  constexpr std::array<std::string_view, 5> kStems = {
      "libnvidia-egl-gbm.so.", "libnvidia-egl-wayland.so.", "libnvidia-egl-wayland2.so.",
      "libnvidia-egl-xcb.so.", "libnvidia-egl-xlib.so."};
  return std::any_of(kStems.begin(), kStems.end(),
                     [&](std::string_view stem) { return !VersionAfter(name, stem).empty(); });
}

// Sorts what stands in the driver's folders into driver and graphics.
void CollectFrom(const Root& root, const std::string& folder, DriverLibraries& found) {
  const std::string suffix = ".so." + found.version;
  const auto wanted = [&](std::string_view name) {
    return name.ends_with(suffix) || name.starts_with("libnvidia-nvvm70.so.") ||
           IsEglPlatform(name);
  };
  for (const FoundFile& file : FindMatches(root, folder, wanted)) {
    const std::string name = NameOf(file.container_path);
    AddNew(IsEglPlatform(name) && !name.ends_with(suffix) ? found.graphics : found.driver, file);
  }
  const auto versioned = [&](std::string_view name) { return name.ends_with(suffix); };
  for (const FoundFile& file : FindMatches(root, folder + "/vdpau", versioned)) {
    AddNew(found.driver, file);
  }
}

// The X.Org modules: for each, the first place that has it.
void CollectXorg(const Root& root, DriverLibraries& found) {
  std::vector<std::string> places;
  const auto add_modules = [&](const std::string& base) {
    for (const std::string updates : {"", "/updates"}) {
      places.push_back(base + updates + "/drivers");
      places.push_back(base + updates + "/extensions");
    }
  };
  std::vector<std::string> bases = found.folders;
  AddNew(bases, std::string("/usr/lib"));
  AddNew(bases, std::string("/usr/lib64"));
  for (const std::string& base : bases) {
    places.push_back(base + "/nvidia/xorg");
    add_modules(base + "/xorg/modules");
  }
  add_modules("/usr/X11R6/lib/modules");
  add_modules("/usr/X11R6/lib64/modules");
  for (const std::string& name :
       {std::string("nvidia_drv.so"), "libglxserver_nvidia.so." + found.version}) {
    for (const std::string& place : places) {
      const std::optional<FoundFile> file = FindFile(root, Under(place, name));
      if (!file || KindOf(*file) != FileKind::kRegular) continue;
      AddNew(found.graphics, *file);
      break;
    }
  }
}

// Also a link whose target is made only by ldconfig.
bool IsThere(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

void SortByPath(std::vector<FoundFile>& files) {
  std::sort(files.begin(), files.end(), [](const FoundFile& a, const FoundFile& b) {
    return a.container_path < b.container_path;
  });
}

}  // namespace

Result<DriverLibraries> FindDriverLibraries(const Root& root, const std::string& version,
                                            const std::vector<std::string>& search_paths) {
  std::vector<std::string> searched = RealFolders(root, SearchFolders(search_paths));
  DriverLibraries found;
  const auto look = [&] {
    found.version = version.empty() ? VersionFromNames(root, searched) : version;
    if (found.version.empty()) return;
    const std::string suffix = ".so." + found.version;
    const auto matches = [&](std::string_view name) {
      return name.ends_with(suffix) && name.starts_with("lib");
    };
    for (const std::string& folder : searched) {
      for (const FoundFile& file : FindMatches(root, folder, matches)) {
        AddNew(found.folders, FolderOf(file.container_path));
      }
    }
  };
  look();
  if (found.folders.empty()) {
    searched = FoldersOfLoaderCache(root);
    look();
  }
  if (found.folders.empty()) {
    const std::string wanted = version.empty() ? "any version" : "version " + version;
    return Fail(ErrorKind::kNotFound, "no driver library of " + wanted + " in the driver root " +
                                          root.host + " (seen at " + root.view + ")");
  }
  for (const std::string& folder : found.folders) CollectFrom(root, folder, found);
  CollectXorg(root, found);
  SortByPath(found.driver);
  SortByPath(found.graphics);
  return found;
}

std::vector<std::string> LoaderFolders(const DriverLibraries& libraries) {
  std::vector<std::string> folders;
  for (const FoundFile& file : libraries.driver) AddNew(folders, FolderOf(file.container_path));
  std::sort(folders.begin(), folders.end());
  return folders;
}

namespace {

// An argument of the hook create-symlinks.
std::string LinkArgument(std::string_view target, std::string_view folder, std::string_view link) {
  return std::string(target).append("::").append(Under(folder, link));
}

}  // namespace

std::vector<std::string> DriverLinks(const DriverLibraries& libraries) {
  std::vector<std::string> links;
  const std::string suffix = ".so." + libraries.version;
  for (const FoundFile& file : libraries.driver) {
    const std::string name = NameOf(file.container_path);
    const std::string folder = FolderOf(file.container_path);
    const auto add = [&](const std::string& target, const std::string& link) {
      if (target != link) AddNew(links, LinkArgument(target, folder, link));
    };
    if (name == "libcuda" + suffix) add("libcuda.so.1", "libcuda.so");
    if (name == "libGLX_nvidia" + suffix) add(name, "libGLX_indirect.so.0");
    if (name == "libnvidia-opticalflow" + suffix) {
      add("libnvidia-opticalflow.so.1", "libnvidia-opticalflow.so");
    }
    const std::optional<std::string> soname = ReadSoname(file.view_path);
    if (!soname) continue;
    add(name, *soname);
    const std::string base = name.substr(0, name.find(".so") + 3);
    if (IsThere(Under(FolderOf(file.view_path), base))) add(*soname, base);
  }
  return links;
}

std::vector<std::string> GraphicsLinks(const DriverLibraries& libraries) {
  std::vector<std::string> links;
  const std::string suffix = ".so." + libraries.version;
  for (const std::vector<FoundFile>* files : {&libraries.driver, &libraries.graphics}) {
    for (const FoundFile& file : *files) {
      const std::string name = NameOf(file.container_path);
      const std::string folder = FolderOf(file.container_path);
      if (name == "libnvidia-allocator" + suffix) {
        AddNew(links, LinkArgument("../libnvidia-allocator.so.1", folder, "gbm/nvidia-drm_gbm.so"));
      }
      for (const std::string stem : {"libnvidia-vulkan-producer", "libglxserver_nvidia"}) {
        if (name == stem + suffix) AddNew(links, LinkArgument(name, folder, stem + ".so"));
      }
    }
  }
  return links;
}

}  // namespace pawl::cdi
