#include "agent/toolkit_stage.h"

#include <gtest/gtest.h>

#include "agent/cdi_stage.h"
#include "agent/plugin_stage.h"
#include "agent/toolkit.h"
#include "base/run_task.h"
#include "base/temporary_folder.h"

namespace pawl::agent {
namespace {

// A node with one GPU that works, all stages by hand.
class ToolkitStageTest : public testing::Test {
 protected:
  ToolkitStageTest() {
    options_.install_dir = folder_.path() + "/install";
    options_.cdi_dir = folder_.path() + "/cdi";
    options_.run_dir = folder_.path() + "/run";
    options_.runtime_program = "/bin/true";
    EXPECT_TRUE(files_.Begin());
    board_.driver = DriverRoot{};
    board_.driver_answers = true;
    gpu::Gpu& gpu = board_.snapshot.gpus.emplace_back();
    gpu.uuid = "GPU-1";
  }

  bool ToolkitFileIsThere() { return Exists(options_.run_dir + "/validations/toolkit-ready"); }

  TemporaryFolder folder_;
  AgentOptions options_;
  Board board_;
  ValidationFiles files_{folder_.path() + "/run"};
  asio::io_context loop_;
};

TEST_F(ToolkitStageTest, SaysOnTheBoardWhetherTheHooksRun) {
  std::vector<Topic> told;
  board_.changed = [&told](Topic topic) { told.push_back(topic); };
  ToolkitStage stage(options_, board_, files_);
  EXPECT_EQ(RunTask(loop_, stage.Run()).state, StageState::kReady);
  EXPECT_TRUE(board_.toolkit_ready);
  EXPECT_TRUE(ToolkitFileIsThere());

  options_.runtime_program = "/bin/false";
  EXPECT_EQ(RunTask(loop_, stage.Run()).reason, "ToolkitDoesNotRun");
  EXPECT_FALSE(board_.toolkit_ready);
  EXPECT_FALSE(ToolkitFileIsThere());
  EXPECT_EQ(told, (std::vector<Topic>{Topic::kToolkit, Topic::kToolkit}));
}

TEST_F(ToolkitStageTest, WhenTheHooksStopToRunTheGpusOfARunningPluginAreUnhealthy) {
  board_.toolkit_ready = true;
  board_.cdi_devices = {"GPU-1"};
  ASSERT_TRUE(PluginStateOf(options_, board_)->devices.at(0).healthy);

  options_.runtime_program = "/bin/false";
  ToolkitStage toolkit(options_, board_, files_);
  CdiStage cdi(options_, board_);
  RunTask(loop_, toolkit.Run());
  EXPECT_EQ(RunTask(loop_, cdi.Run()).reason, "ToolkitNotReady");
  EXPECT_FALSE(PluginStateOf(options_, board_)->devices.at(0).healthy);
}

}  // namespace
}  // namespace pawl::agent
