#include "agent/cdi_stage.h"

#include "agent/toolkit.h"
#include "base/log.h"
#include "cdi/generate/generate.h"
#include "cdi/generate/write_spec.h"

namespace pawl::agent {
namespace {

constexpr Duration kRetry = 5s;
constexpr Duration kLookAgain = 60s;  // sockets and files of the driver may come later

cdi::GenerateOptions GenerateOptionsFor(const AgentOptions& options, const Board& board) {
  cdi::GenerateOptions generate;
  generate.driver = cdi::Root{board.driver->host, board.driver->view};
  generate.dev = cdi::Root{board.driver->host_dev, board.driver->view_dev};
  generate.sys = options.host_root;
  generate.vendor = kPluginCdiVendor;
  generate.device_class = kPluginCdiClass;
  generate.names = {options.allocation.id_strategy == IdStrategy::kIndex
                        ? cdi::NameStrategy::kIndex
                        : cdi::NameStrategy::kUuid};
  generate.all_device = false;
  generate.read_node = options.read_device_node;
  if (options.toolkit_enabled) generate.hook_path = ToolkitIn(options.install_dir).hook_path;
  generate.device_ids.clear();
  for (const gpu::Gpu& gpu : board.snapshot.gpus) generate.device_ids.push_back(gpu.uuid);
  return generate;
}

std::set<std::string> UuidsIn(const cdi::Spec& spec, const gpu::Snapshot& snapshot,
                              IdStrategy strategy) {
  std::set<std::string> names;
  for (const cdi::Device& device : spec.devices) names.insert(device.name);
  std::set<std::string> uuids;
  for (const gpu::Gpu& gpu : snapshot.gpus) {
    const std::string name = strategy == IdStrategy::kIndex ? std::to_string(gpu.index) : gpu.uuid;
    if (names.contains(name)) uuids.insert(gpu.uuid);
  }
  return uuids;
}

}  // namespace

std::string PluginCdiFile(const std::string& cdi_dir) {
  return cdi_dir + "/" + std::string(kPluginCdiVendor) + "-" + std::string(kPluginCdiClass) +
         ".json";
}

Task<Outcome> CdiStage::Run() {
  if (!board_.driver || board_.snapshot.gpus.empty()) {
    co_return Outcome::Waiting("NoGPU", "no GPU is known yet");
  }
  if (options_.toolkit_enabled && !board_.toolkit_ready) {
    Offer({});
    co_return Outcome::Waiting("ToolkitNotReady", "the hooks are not on the host");
  }
  std::vector<std::string> warnings;
  const Result<cdi::Spec> spec =
      cdi::GenerateSpec(board_.snapshot, GenerateOptionsFor(options_, board_), &warnings);
  Warn(warnings);
  if (!spec) co_return Outcome::Failed("CdiSpec", spec.error().message(), kRetry);
  const std::string path = PluginCdiFile(options_.cdi_dir);
  const Result<Written> written = cdi::WriteSpec(path, *spec);
  if (!written) co_return Outcome::Failed("CdiSpec", written.error().message(), kRetry);

  Offer(UuidsIn(*spec, board_.snapshot, options_.allocation.id_strategy));
  co_return Outcome::Ready(std::to_string(spec->devices.size()) + " devices in " + path)
      .After(kLookAgain);
}

void CdiStage::Offer(std::set<std::string> uuids) {
  if (uuids == board_.cdi_devices) return;
  board_.cdi_devices = std::move(uuids);
  board_.changed(Topic::kCdi);
}

// Each warning once: the stage runs often.
void CdiStage::Warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (warned_.insert(warning).second) log::Warning("CDI", {{"warning", warning}});
  }
}

}  // namespace pawl::agent
