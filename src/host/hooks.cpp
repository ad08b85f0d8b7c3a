#include "host/hooks.h"

#include <algorithm>
#include <array>

#include "host/application_profile.h"
#include "host/container_root.h"
#include "host/container_state.h"
#include "host/create_symlinks.h"
#include "host/cuda_compat.h"
#include "host/device_params.h"
#include "host/flags.h"
#include "host/update_ldcache.h"

namespace pawl::host {
namespace {

struct HookProgram {
  std::string_view name;
  std::vector<std::string_view> flags;
  Status (*run)(const ContainerRoot& root, const Flags& flags);
};

Status RunCreateSymlinks(const ContainerRoot& root, const Flags& flags) {
  return CreateSymlinks(root, flags.All("link"));
}

Status RunEnableCudaCompat(const ContainerRoot& root, const Flags& flags) {
  const HostCuda host{flags.Last("host-driver-version"), flags.Last("host-cuda-version")};
  return EnableCudaCompat(root, host,
                          flags.Last("cuda-compat-container-root", "/usr/local/cuda/compat"));
}

Status RunUpdateLdCache(const ContainerRoot& root, const Flags& flags) {
  return UpdateLdCache(root, flags.All("folder"), flags.Last("ldconfig-path", "/sbin/ldconfig"));
}

Status RunDisableModification(const ContainerRoot& root, const Flags& /*flags*/) {
  return DisableDeviceNodeModification(root, "/proc/driver/nvidia/params");
}

Status RunUpdateProfile(const ContainerRoot& root, const Flags& /*flags*/) {
  return UpdateApplicationProfile(root);
}

const std::array<HookProgram, 5>& Programs() {
  static const std::array<HookProgram, 5> kPrograms = {{
      {"create-symlinks", {"link"}, RunCreateSymlinks},
      {"enable-cuda-compat",
       {"host-driver-version", "host-cuda-version", "cuda-compat-container-root"},
       RunEnableCudaCompat},
      {"update-ldcache", {"folder", "ldconfig-path"}, RunUpdateLdCache},
      {"disable-device-node-modification", {}, RunDisableModification},
      {"update-application-profile", {}, RunUpdateProfile},
  }};
  return kPrograms;
}

const HookProgram* FindProgram(const std::string& name) {
  const auto& programs = Programs();
  const auto* const found = std::find_if(programs.begin(), programs.end(),
                                         [&](const auto& hook) { return hook.name == name; });
  return found == programs.end() ? nullptr : found;
}

}  // namespace

bool IsHook(const std::string& name) { return FindProgram(name) != nullptr; }

std::string KnownHooks() {
  std::string names;
  for (const HookProgram& program : Programs()) {
    names += (names.empty() ? "" : ", ") + std::string(program.name);
  }
  return names;
}

Status RunHook(const std::string& name, const std::vector<std::string>& flags) {
  const HookProgram* program = FindProgram(name);
  if (program == nullptr) return Fail(ErrorKind::kNotFound, "unknown hook");
  std::vector<std::string_view> known = program->flags;
  known.emplace_back("container-spec");
  const Result<Flags> parsed = Flags::Parse(flags, known);
  if (!parsed) return Fail(parsed.error());
  const Result<std::string> state = ReadState(parsed->Last("container-spec"));
  if (!state) return Fail(state.error());
  const Result<std::string> path = RootOfState(*state);
  if (!path) return Fail(path.error());
  const Result<ContainerRoot> root = ContainerRoot::Open(*path);
  if (!root) return Fail(root.error());
  return program->run(*root, *parsed);
}

}  // namespace pawl::host
