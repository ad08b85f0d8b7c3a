// Makes a CDI specification for a node's GPUs from what NVML says and from the files of the
// installed driver. spec/container-toolkit.md §5.3, §5.4.
//
//   GenerateOptions options;
//   options.driver = {.host = "/", .view = "/host"};   // the host's root, seen from our container
//   Result<Spec> spec = GenerateSpec(snapshot, options);
//
// The output is the same for the same files: sorted, without duplicates.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cdi/generate/root.h"
#include "cdi/model/spec.h"
#include "gpu/model.h"

namespace pawl::cdi {

enum class NameStrategy { kIndex, kUuid, kTypeIndex };  // "0", "GPU-…", "gpu0"

// "index", "uuid", "type-index".
Result<NameStrategy> ParseNameStrategy(std::string_view text);

// The hooks that a specification may call, by name. pawl-runtime has each of them.
inline const std::set<std::string> kHooks = {"create-symlinks", "enable-cuda-compat",
                                             "update-ldcache", "disable-device-node-modification",
                                             "update-application-profile"};

// What lstat says of a device node.
struct NodeFacts {
  int64_t major = 0;
  int64_t minor = 0;
  uint32_t mode = 0;  // permission bits
  uint32_t gid = 0;
};

// The facts of a character device; nothing where `path` is not one. Tests put their own in the
// place of the real one, since making device nodes takes root.
using NodeReader = std::function<std::optional<NodeFacts>(const std::string& path)>;
std::optional<NodeFacts> ReadNodeFacts(const std::string& path);

struct GenerateOptions {
  Root driver;            // holds the driver's libraries, programs and files
  Root dev;               // holds /dev
  std::string sys = "/";  // where we see the folder that holds /sys

  std::string vendor = "nvidia.com";
  std::string device_class = "gpu";
  std::vector<NameStrategy> names = {NameStrategy::kIndex, NameStrategy::kUuid};
  bool all_device = true;

  // Which GPUs: "all" (all but those in MIG mode), an index, a UUID, or "none" for a device without
  // a GPU that gets the driver's files.
  std::vector<std::string> device_ids = {"all"};

  std::string hook_path = "/usr/bin/nvidia-cdi-hook";  // on the host
  std::set<std::string> hooks = kHooks;                // those to call
  std::string ldconfig_path;                           // for update-ldcache; empty: its own default
  bool additional_gids = true;  // the groups of nodes that others may not use
  bool sockets = true;          // those of the driver's daemons

  std::vector<std::string> library_search_paths;  // before the usual ones, below the driver root
  std::vector<std::string> config_search_paths;   // before the usual ones, below the driver root

  NodeReader read_node = ReadNodeFacts;
};

// A GPU whose device node is missing is left out, and said so in `warnings` (the log where that is
// null), as is a GPU with a problem under a name that another has, and every file of the driver that
// a GPU can do without. kNotFound: no GPU is left, an
// asked one does not exist, or the driver's libraries are not there.
Result<Spec> GenerateSpec(const gpu::Snapshot& snapshot, const GenerateOptions& options,
                          std::vector<std::string>* warnings = nullptr);

}  // namespace pawl::cdi
