// nvidia-smi in a machine of the test: it finds the library as the loader does, here by the
// folder's name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fixture/machine.h"

namespace pawl::stand_in {
namespace {

using testing::HasSubstr;

class Smi : public testing::Test {
 protected:
  Finished Run(const std::string& arguments) const {
    return Shell("LD_LIBRARY_PATH=" + machine_.folder().string() + " " + BuiltStandIns().string() +
                 "/nvidia-smi " + arguments);
  }
  Machine machine_{"t4x4"};
};

TEST_F(Smi, ListsWhatIsVisible) {
  machine_.AddControlNode();
  machine_.AddGpuNode(2);
  const Finished ran = Run("-L");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "GPU 0: Tesla T4 (UUID: GPU-e7d240b9-6c3a-4f18-8275-90b1ce5fa862)\n");
}

TEST_F(Smi, SaysThatNoDeviceWasFound) {
  machine_.AddControlNode();
  const Finished ran = Run("-L");
  EXPECT_EQ(ran.code, 6);
  EXPECT_EQ(ran.output, "No devices were found\n");
}

TEST_F(Smi, SaysThatTheDriverDoesNotAnswer) {
  const Finished ran = Run("");
  EXPECT_EQ(ran.code, 9);
  EXPECT_THAT(ran.output, HasSubstr("couldn't communicate with the NVIDIA driver"));
}

TEST_F(Smi, DoesNotStartWithoutTheLibrary) {
  const Finished ran = Shell("LD_LIBRARY_PATH= " + BuiltStandIns().string() + "/nvidia-smi -L");
  EXPECT_EQ(ran.code, 127);
  EXPECT_THAT(ran.output, HasSubstr("libnvidia-ml.so.1: cannot open shared object file"));
}

TEST_F(Smi, QueriesFieldsAsCsv) {
  machine_.AddAllNodes();
  EXPECT_EQ(
      Run("--query-gpu=index,name,memory.total,fan.speed,power.draw --format=csv -i 1").output,
      "index, name, memory.total [MiB], fan.speed [%], power.draw [W]\n"
      "1, Tesla T4, 15360 MiB, [N/A], 9.87 W\n");
  EXPECT_EQ(Run("--query-gpu=pci.bus_id,compute_cap,memory.used --format=csv,noheader,nounits "
                "--id=0000:86:00.0")
                .output,
            "00000000:86:00.0, 7.5, 0\n");
}

TEST_F(Smi, RefusesAFieldThatThereIsNot) {
  machine_.AddAllNodes();
  const Finished ran = Run("--query-gpu=index,colour --format=csv");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.output, HasSubstr("Field \"colour\" is not a valid field to query."));
}

TEST_F(Smi, ShowsATableOfEvenLines) {
  machine_.AddAllNodes();
  const Finished ran = Run("");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.output, HasSubstr("Driver Version: 550.163.01     CUDA Version: 12.4"));
  EXPECT_THAT(ran.output, HasSubstr("|   3  Tesla T4                       Off |   "
                                    "00000000:AF:00.0 Off |                    0 |"));
  for (std::size_t at = ran.output.find('\n') + 1; at < ran.output.size();) {
    const std::size_t end = ran.output.find('\n', at);
    EXPECT_EQ(end - at, 91U) << ran.output.substr(at, end - at);
    at = end + 1;
  }
}

TEST_F(Smi, TellsOfALostGpu) {
  machine_.AddAllNodes();
  machine_.Break("gpu 1 lost\n");
  const Finished ran = Run("-L");
  EXPECT_EQ(ran.code, 15);
  EXPECT_THAT(ran.output, HasSubstr("GPU is lost"));
}

}  // namespace
}  // namespace pawl::stand_in
