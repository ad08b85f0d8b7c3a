// `pawl cdi generate`: a CDI specification for this machine's GPUs, with the flags and environment
// variables of `nvidia-ctk cdi generate` (spec/container-toolkit.md §7).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/run_task.h"
#include "base/text.h"
#include "cdi/generate/generate.h"
#include "cdi/generate/write_spec.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "gpu/worker_client.h"

namespace pawl::cli {
namespace {

constexpr const char* kHookProgram = "nvidia-cdi-hook";

struct CdiFlags {
  std::string output;
  std::string format = "yaml";
  std::string mode = "auto";
  std::string driver_root = "/";
  std::string dev_root;   // empty: the driver root
  std::string hook_path;  // empty: looked up in PATH
  std::string vendor = "nvidia.com";
  std::string device_class = "gpu";
  std::vector<std::string> names = {"index", "uuid"};
  std::vector<std::string> device_ids = {"all"};
  std::vector<std::string> disabled_hooks;
  std::vector<std::string> enabled_hooks;
  std::vector<std::string> features;
  std::vector<std::string> library_search_paths;
  std::vector<std::string> config_search_paths;
  std::string ldconfig_path;
  bool no_all_device = false;
};

std::string FindHookProgram() {
  const std::string path = FromEnvironment({"PATH"}).value_or("");
  for (const std::string& folder : Split(path, ':')) {
    const std::string candidate = Under(folder, kHookProgram);
    if (folder.starts_with('/') && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::string("/usr/bin/") + kHookProgram;
}

// The library that the loader finds; where it finds none, the one in the driver root.
Result<gpu::Snapshot> TakeSnapshot(const std::string& driver_root) {
  gpu::NvmlWorkerOptions options;
  options.command = {"/proc/self/exe", "nvml"};
  options.environment = WholeEnvironment();
  asio::io_context loop(1);
  Result<gpu::Snapshot> snapshot = RunTask(loop, gpu::TakeSnapshotOnce(options));
  if (snapshot || snapshot.error().kind() != ErrorKind::kUnavailable || driver_root == "/") {
    return snapshot;
  }
  options.driver_root = driver_root;
  return RunTask(loop, gpu::TakeSnapshotOnce(options));
}

std::set<std::string> WantedHooks(const CdiFlags& flags) {
  std::set<std::string> wanted = cdi::kHooks;
  for (const std::string& name : flags.disabled_hooks) {
    if (name == "all") {
      wanted.clear();
    } else {
      wanted.erase(name);
    }
  }
  for (const std::string& name : flags.enabled_hooks) {
    if (cdi::kHooks.contains(name)) wanted.insert(name);
  }
  return wanted;
}

bool Contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Result<cdi::GenerateOptions> OptionsOf(const CdiFlags& flags) {
  if (flags.mode != "auto" && flags.mode != "nvml") {
    return Fail(ErrorKind::kUnsupported,
                "--mode " + flags.mode + ": expected auto or nvml; other modes are not supported");
  }
  if (Contains(flags.enabled_hooks, "all")) {
    return Fail(ErrorKind::kInvalid, "--enable-hook all: name the hooks");
  }
  cdi::GenerateOptions options;
  options.driver = cdi::Root::Of(flags.driver_root);
  options.dev = cdi::Root::Of(flags.dev_root.empty() ? flags.driver_root : flags.dev_root);
  options.vendor = flags.vendor;
  options.device_class = flags.device_class;
  options.names.clear();
  for (const std::string& word : flags.names) {
    const Result<cdi::NameStrategy> strategy = cdi::ParseNameStrategy(word);
    if (!strategy) return Fail(strategy.error());
    options.names.push_back(*strategy);
  }
  options.all_device = !flags.no_all_device;
  options.device_ids = flags.device_ids;
  options.hook_path = flags.hook_path.empty() ? FindHookProgram() : flags.hook_path;
  options.hooks = WantedHooks(flags);
  options.ldconfig_path = flags.ldconfig_path;
  options.additional_gids = !Contains(flags.features, "no-additional-gids-for-device-nodes");
  options.sockets = !Contains(flags.features, "disable-ipc-discoverer");
  options.library_search_paths = flags.library_search_paths;
  options.config_search_paths = flags.config_search_paths;
  return options;
}

// Names of others' flags are accepted, as nvidia-ctk does, but not in silence.
void WarnOfFeaturesWithoutEffect(const CdiFlags& flags) {
  for (const std::string& feature : flags.features) {
    if (feature == "no-additional-gids-for-device-nodes" || feature == "disable-ipc-discoverer") {
      continue;
    }
    log::Warning("this feature flag changes nothing here", {{"feature", feature}});
  }
}

Status Output(const CdiFlags& flags, const cdi::Spec& spec) {
  if (flags.output.empty()) {
    const auto format = flags.format == "json" ? cdi::SpecFormat::kJson : cdi::SpecFormat::kYaml;
    std::fputs(cdi::SpecText(spec, format).c_str(), stdout);
    return {};
  }
  const bool named = flags.output.ends_with(".json") || flags.output.ends_with(".yaml");
  const Result<Written> written =
      cdi::WriteSpec(named ? flags.output : flags.output + "." + flags.format, spec);
  if (!written) return Fail(written.error());
  return {};
}

Status RunGenerate(const CdiFlags& flags) {
  const Result<cdi::GenerateOptions> options = OptionsOf(flags);
  if (!options) return Fail(options.error());
  const Result<gpu::Snapshot> snapshot = TakeSnapshot(flags.driver_root);
  if (!snapshot) return Fail(snapshot.error().With("asking NVML for the GPUs"));
  WarnOfFeaturesWithoutEffect(flags);
  const Result<cdi::Spec> spec = cdi::GenerateSpec(*snapshot, *options);
  if (!spec) return Fail(spec.error());
  return Output(flags, *spec);
}

void AddGenerate(CLI::App& cdi, int& exit_code) {
  auto flags = std::make_shared<CdiFlags>();
  CLI::App* command =
      cdi.add_subcommand("generate", "Make a CDI specification for this machine's GPUs");
  const auto text = [&](const std::string& name, std::string& value, const std::string& variable,
                        const std::string& help) {
    return command->add_option(name, value, help)->envname(variable);
  };
  const auto list = [&](const std::string& name, std::vector<std::string>& value,
                        const std::string& variable, const std::string& help) {
    command->add_option(name, value, help)->delimiter(',')->take_all()->envname(variable);
  };
  const std::string generate = "NVIDIA_CTK_CDI_GENERATE_";
  text("-o,--output", flags->output, "NVIDIA_CTK_CDI_OUTPUT_FILE_PATH",
       "File to write; standard output where empty");
  text("--format", flags->format, generate + "OUTPUT_FORMAT",
       "yaml or json, where the file's name does not say")
      ->check(CLI::IsMember({"yaml", "json"}));
  text("--mode,--discovery-mode", flags->mode, generate + "MODE", "auto or nvml");
  text("--driver-root", flags->driver_root, "NVIDIA_CTK_DRIVER_ROOT",
       "Folder that holds the driver's files as below /");
  text("--dev-root", flags->dev_root, "NVIDIA_CTK_DEV_ROOT",
       "Folder that holds dev/; the driver root where empty");
  text("--nvidia-cdi-hook-path,--nvidia-ctk-path", flags->hook_path, "NVIDIA_CTK_CDI_HOOK_PATH",
       "The hook program that the specification names; looked up in PATH where empty");
  text("--vendor,--cdi-vendor", flags->vendor, generate + "VENDOR", "Vendor of the kind");
  text("--class,--cdi-class", flags->device_class, generate + "CLASS", "Class of the kind");
  list("--device-name-strategy", flags->names, generate + "DEVICE_NAME_STRATEGIES",
       "How devices are named: index, uuid, type-index; may be repeated");
  list("--device-id,--device-ids,--device", flags->device_ids, generate + "DEVICE_IDS",
       "GPUs by index or UUID, all, or none");
  list("--disable-hook", flags->disabled_hooks, generate + "DISABLED_HOOKS",
       "Hooks to leave out; all for every one");
  list("--enable-hook", flags->enabled_hooks, generate + "ENABLED_HOOKS",
       "Hooks to call although disabled");
  list("--feature-flag", flags->features, generate + "FEATURE_FLAGS", "Feature flags");
  list("--library-search-path", flags->library_search_paths, generate + "LIBRARY_SEARCH_PATHS",
       "Folders of the driver root to look for libraries first");
  list("--config-search-path", flags->config_search_paths, generate + "CONFIG_SEARCH_PATHS",
       "Folders of the driver root to look for configuration first");
  text("--ldconfig-path", flags->ldconfig_path, generate + "LDCONFIG_PATH",
       "The host's ldconfig for the hook update-ldcache");
  command->add_flag("--no-all-device", flags->no_all_device, "Leave out the device all of all GPUs")
      ->envname(generate + "NO_ALL_DEVICE");
  command->callback([flags, &exit_code] {
    const Status done = RunGenerate(*flags);
    if (!done) log::Failure("cdi generate failed", {{"error", done.error()}});
    exit_code = done ? 0 : 1;
  });
}

}  // namespace

void AddCdi(CLI::App& app, int& exit_code) {
  CLI::App* cdi = app.add_subcommand("cdi", "CDI specifications");
  cdi->require_subcommand(1);
  AddGenerate(*cdi, exit_code);
}

}  // namespace pawl::cli
