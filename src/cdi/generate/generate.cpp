#include "cdi/generate/generate.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cdi/generate/device_nodes.h"
#include "cdi/generate/driver_files.h"
#include "cdi/generate/libraries.h"
#include "cdi/model/merge.h"
#include "cdi/model/names.h"

namespace pawl::cdi {
namespace {

using Warnings = std::vector<std::string>;

void AddHook(const GenerateOptions& options, const std::string& name,
             const std::vector<std::string>& args, Edits& edits) {
  if (!options.hooks.contains(name)) return;
  Hook hook;
  hook.hook_name = "createContainer";
  hook.path = options.hook_path;
  const std::string program = NameOf(options.hook_path);
  hook.args.push_back(program);
  if (program != "nvidia-cdi-hook") hook.args.emplace_back("hook");
  hook.args.push_back(name);
  hook.args.insert(hook.args.end(), args.begin(), args.end());
  // A hook without an environment would get the container's own, with its LD_PRELOAD
  // (spec/container-toolkit.md §10, CVE-2025-23266).
  hook.env.emplace_back("NVIDIA_CTK_DEBUG=false");
  edits.hooks.push_back(std::move(hook));
}

// Repeats `flag` before every value.
std::vector<std::string> Flags(const std::string& flag, const std::vector<std::string>& values) {
  std::vector<std::string> args;
  for (const std::string& value : values) {
    args.push_back(flag);
    args.push_back(value);
  }
  return args;
}

void AddLinks(const GenerateOptions& options, const std::vector<std::string>& links, Edits& edits) {
  if (!links.empty()) AddHook(options, "create-symlinks", Flags("--link", links), edits);
}

void AddControlNodes(const GenerateOptions& options, Edits& edits, Warnings& warnings) {
  for (const std::string path :
       {"/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl"}) {
    if (!AddNode(options, path, edits)) {
      warnings.push_back("the control node " + path + " is missing");
    }
  }
}

void AddHooks(const GenerateOptions& options, const DriverLibraries& libraries, Edits& edits) {
  AddLinks(options, GraphicsLinks(libraries), edits);
  AddLinks(options, DriverLinks(libraries), edits);
  AddHook(options, "enable-cuda-compat", {"--host-driver-version=" + libraries.version}, edits);
  std::vector<std::string> loader = Flags("--folder", LoaderFolders(libraries));
  if (!options.ldconfig_path.empty()) {
    loader.insert(loader.begin(), {"--ldconfig-path", options.ldconfig_path});
  }
  AddHook(options, "update-ldcache", loader, edits);
  AddHook(options, "disable-device-node-modification", {}, edits);
  AddHook(options, "update-application-profile", {}, edits);
}

Result<Edits> CommonEdits(const GenerateOptions& options, const std::string& version,
                          Warnings& warnings) {
  const Result<DriverLibraries> libraries =
      FindDriverLibraries(options.driver, version, options.library_search_paths);
  if (!libraries) return Fail(libraries.error());
  Edits edits;
  edits.env.push_back("NVIDIA_CTK_LIBCUDA_DIR=" + Join(libraries->folders, ":"));
  edits.env.emplace_back("NVIDIA_VISIBLE_DEVICES=void");
  AddControlNodes(options, edits, warnings);
  for (const std::vector<FoundFile>* files : {&libraries->driver, &libraries->graphics}) {
    for (const FoundFile& file : *files) {
      edits.mounts.push_back(FileMount(file.host_path, file.container_path));
    }
  }
  AddPrograms(options.driver, edits);
  AddFirmware(options.driver, options.sys, libraries->version, edits);
  AddConfiguration(options.driver, options.config_search_paths, edits);
  if (options.sockets) AddSockets(options.driver, edits);
  AddHooks(options, *libraries, edits);
  return edits;
}

std::string NameOfGpu(const gpu::Gpu& gpu, NameStrategy strategy) {
  switch (strategy) {
    case NameStrategy::kIndex:
      return std::to_string(gpu.index);
    case NameStrategy::kUuid:
      return gpu.uuid;
    case NameStrategy::kTypeIndex:
      return "gpu" + std::to_string(gpu.index);
  }
  return {};
}

// The GPUs that were asked for, each once, in the order of the snapshot.
Result<std::vector<const gpu::Gpu*>> Select(const gpu::Snapshot& snapshot,
                                            const std::vector<std::string>& ids) {
  std::set<const gpu::Gpu*> wanted;
  for (const std::string& id : ids) {
    if (id == "none") continue;
    bool found = id == "all";
    for (const gpu::Gpu& gpu : snapshot.gpus) {
      const bool in_all = id == "all" && !gpu.mig_enabled.value_or(false);
      const bool named = id == gpu.uuid || id == std::to_string(gpu.index);
      if (in_all || named) wanted.insert(&gpu);
      found = found || named;
    }
    if (!found) return Fail(ErrorKind::kNotFound, "there is no GPU \"" + id + "\"");
  }
  std::vector<const gpu::Gpu*> selected;
  for (const gpu::Gpu& gpu : snapshot.gpus) {
    if (wanted.contains(&gpu)) selected.push_back(&gpu);
  }
  return selected;
}

Status AddGpu(const gpu::Gpu& gpu, const GenerateOptions& options, Spec& spec, Warnings& warnings) {
  Edits edits;
  const std::string path = "/dev/nvidia" + std::to_string(gpu.minor);
  if (!AddNode(options, path, edits)) {
    warnings.push_back("the device node " + path + " of " + gpu.uuid +
                       " is missing: the GPU is left out");
    return {};
  }
  AddLinks(options, AddDrmNodes(options, gpu, edits), edits);
  for (const NameStrategy strategy : options.names) {
    Device device{NameOfGpu(gpu, strategy), {}, edits};
    if (Status valid = ValidateDeviceName(device.name); !valid) return valid;
    const bool taken = std::any_of(spec.devices.begin(), spec.devices.end(),
                                   [&](const Device& other) { return other.name == device.name; });
    if (taken && !gpu.usable()) {
      // It is known from before, and NVML counts another in its place now.
      warnings.push_back("the name \"" + device.name + "\" of " + gpu.uuid + " (" + gpu.problem +
                         ") is another GPU's: it is left out");
      continue;
    }
    if (taken) {
      return Fail(ErrorKind::kInvalid, "two GPUs have the name \"" + device.name + "\"");
    }
    spec.devices.push_back(std::move(device));
  }
  return {};
}

Result<Spec> Generate(const gpu::Snapshot& snapshot, const GenerateOptions& options,
                      Warnings& warnings) {
  Spec spec;
  spec.kind = options.vendor + "/" + options.device_class;
  if (const Result<Kind> kind = ParseKind(spec.kind); !kind) return Fail(kind.error());
  const Result<std::vector<const gpu::Gpu*>> gpus = Select(snapshot, options.device_ids);
  if (!gpus) return Fail(gpus.error());
  // Those that work first: they have the first claim to a name.
  std::vector<const gpu::Gpu*> ordered = *gpus;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const gpu::Gpu* gpu) { return gpu->usable(); });
  for (const gpu::Gpu* gpu : ordered) {
    if (Status added = AddGpu(*gpu, options, spec, warnings); !added) return Fail(added.error());
  }
  const bool any_gpu = !spec.devices.empty();
  if (std::find(options.device_ids.begin(), options.device_ids.end(), "none") !=
      options.device_ids.end()) {
    Device none{"none", {}, {}};
    none.edits.env.emplace_back("NVCT_EMPTY_DEVICE=");
    spec.devices.push_back(std::move(none));
  }
  if (spec.devices.empty()) {
    return Fail(ErrorKind::kNotFound, "no GPU with a device node below " + options.dev.host +
                                          " (seen at " + options.dev.view + "): NVML lists " +
                                          std::to_string(snapshot.gpus.size()));
  }
  Result<Edits> common = CommonEdits(options, snapshot.driver_version, warnings);
  if (!common) return Fail(common.error());
  spec.edits = std::move(*common);
  Finish(spec, options.all_device && any_gpu);
  return spec;
}

}  // namespace

Result<NameStrategy> ParseNameStrategy(std::string_view text) {
  if (text == "index") return NameStrategy::kIndex;
  if (text == "uuid") return NameStrategy::kUuid;
  if (text == "type-index") return NameStrategy::kTypeIndex;
  return Fail(ErrorKind::kInvalid, "unknown device name strategy \"" + std::string(text) +
                                       "\"; known are index, uuid and type-index");
}

Result<Spec> GenerateSpec(const gpu::Snapshot& snapshot, const GenerateOptions& options,
                          std::vector<std::string>* warnings) {
  Warnings collected;
  Result<Spec> spec = Generate(snapshot, options, collected);
  if (warnings != nullptr) {
    *warnings = std::move(collected);
  } else {
    for (const std::string& warning : collected) {
      log::Warning("CDI generation", {{"missing", warning}});
    }
  }
  if (!spec) return Fail(spec.error().With("generating the CDI specification"));
  return spec;
}

}  // namespace pawl::cdi
