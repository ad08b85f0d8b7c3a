#include "agent/toolkit_stage.h"

#include "agent/toolkit.h"
#include "base/subprocess.h"

namespace pawl::agent {
namespace {

constexpr Duration kRetry = 10s;
constexpr Duration kLookAgain = 60s;  // somebody may have removed it
constexpr Duration kStartLimit = 5s;

}  // namespace

Task<Outcome> ToolkitStage::Run() {
  Task<Outcome> install = Install();
  Outcome outcome = co_await std::move(install);
  const bool ready = outcome.state == StageState::kReady;
  const Status marked = ready ? files_.Set("toolkit-ready", "") : files_.Clear("toolkit-ready");
  if (board_.toolkit_ready != ready) {
    board_.toolkit_ready = ready;
    board_.changed(Topic::kToolkit);
  }
  if (!marked) co_return Outcome::Failed("ValidationFile", marked.error().message(), kRetry);
  co_return outcome;
}

Task<Outcome> ToolkitStage::Install() {
  const Toolkit toolkit = ToolkitIn(options_.install_dir);
  const Result<Written> installed = InstallToolkit(options_.runtime_program, options_.install_dir);
  if (!installed) {
    co_return Outcome::Failed("ToolkitNotInstalled", installed.error().message(), kRetry);
  }
  // It runs here as it would on the host: a folder mounted noexec shows now, not in every pod.
  Command command;
  command.arguments = {toolkit.hook_path, "--version"};
  Task<Result<CommandOutput>> check = RunCommand(std::move(command), kStartLimit);
  const Result<CommandOutput> checked = co_await std::move(check);
  if (!checked || !checked->status.ok()) {
    co_return Outcome::Failed(
        "ToolkitDoesNotRun",
        checked ? toolkit.hook_path + ": " + ToString(checked->status) : checked.error().message(),
        kRetry);
  }
  co_return Outcome::Ready("hooks at " + toolkit.hook_path).After(kLookAgain);
}

}  // namespace pawl::agent
