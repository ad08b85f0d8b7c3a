#include "cdi/generate/device_nodes.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/files.h"

namespace pawl::cdi {

std::optional<NodeFacts> ReadNodeFacts(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return std::nullopt;
  return NodeFacts{major(info.st_rdev), minor(info.st_rdev), info.st_mode & 0777U, info.st_gid};
}

bool AddNode(const GenerateOptions& options, const std::string& path, Edits& edits) {
  constexpr uint32_t kOthersReadWrite = 06;
  const std::optional<NodeFacts> facts = options.read_node(Under(options.dev.view, path));
  if (!facts) return false;
  DeviceNode node;
  node.path = path;
  const std::string host_path = Under(options.dev.host, path);
  if (host_path != path) node.host_path = host_path;
  node.major = facts->major;
  node.minor = facts->minor;
  node.file_mode = facts->mode;
  node.permissions = "rwm";
  if (facts->gid != 0) {
    node.gid = facts->gid;
    if (options.additional_gids && (facts->mode & kOthersReadWrite) != kOthersReadWrite) {
      edits.additional_gids.push_back(facts->gid);
    }
  }
  edits.device_nodes.push_back(std::move(node));
  return true;
}

std::vector<std::string> AddDrmNodes(const GenerateOptions& options, const gpu::Gpu& gpu,
                                     Edits& edits) {
  const std::string address = gpu.pci.ToSysfs();
  const Result<std::vector<std::string>> names =
      ListFolder(Under(options.sys, "/sys/bus/pci/devices/" + address + "/drm"));
  if (!names) return {};  // no display driver: nothing to inject
  std::vector<std::string> included;
  for (const std::string& name : *names) {
    if (AddNode(options, "/dev/dri/" + name, edits)) included.push_back(name);
  }
  std::vector<std::string> links;
  for (const char* suffix : {"-card", "-render"}) {
    const std::string link = "/dev/dri/by-path/pci-" + address + suffix;
    std::string target(PATH_MAX, '\0');
    const ssize_t length =
        readlink(Under(options.dev.view, link).c_str(), target.data(), target.size());
    if (length <= 0) continue;
    target.resize(static_cast<size_t>(length));
    const std::string name = NameOf(target);
    if (std::find(included.begin(), included.end(), name) == included.end()) continue;
    links.push_back("../" + name + "::" + link);
  }
  return links;
}

}  // namespace pawl::cdi
