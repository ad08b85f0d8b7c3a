#include "scout/uevents.h"

#include <gtest/gtest.h>

#include <string>

namespace pawl::scout {
namespace {

TEST(Uevents, OfPciAndModulesConcernLabels) {
  using namespace std::string_literals;
  EXPECT_TRUE(ConcernsLabels(
      "add@/devices/pci0000:00/0000:3b:00.0\0ACTION=add\0SUBSYSTEM=pci\0SEQNUM=7\0"s));
  EXPECT_TRUE(ConcernsLabels("remove@/module/nvidia_fs\0ACTION=remove\0SUBSYSTEM=module"s));
  EXPECT_FALSE(ConcernsLabels("change@/devices/virtual/block/loop0\0SUBSYSTEM=block\0"s));
  EXPECT_FALSE(ConcernsLabels("add@/x\0SUBSYSTEM=pci_bus\0"s));
  EXPECT_FALSE(ConcernsLabels(""));
}

TEST(Uevents, CanBeClosedWhileWaitedFor) {
  asio::io_context loop;
  auto uevents = Uevents::Open(loop.get_executor());
  ASSERT_TRUE(uevents) << uevents.error().message();
  uevents->Close();
}

}  // namespace
}  // namespace pawl::scout
