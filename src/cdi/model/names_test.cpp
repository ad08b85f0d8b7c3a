#include "cdi/model/names.h"

#include <gtest/gtest.h>

namespace pawl::cdi {
namespace {

TEST(CdiNames, DeviceNamesAsTheFormatHasThem) {  // spec/container-toolkit.md vector 22
  for (const char* good : {"0", "mig0:1", "GPU-5a3c", "a", "all", "x_y.z"}) {
    EXPECT_TRUE(ValidateDeviceName(good)) << good;
  }
  for (const char* bad : {"", ":x", "x-", "-x", "a b", "a/b", "a=b", "ü"}) {
    EXPECT_FALSE(ValidateDeviceName(bad)) << bad;
  }
}

TEST(CdiNames, AVendorBeginsWithALetterAndEndsWithALetterOrDigit) {
  for (const char* good : {"nvidia.com", "k8s.device-plugin.nvidia.com", "a", "a1"}) {
    EXPECT_TRUE(ValidateVendor(good)) << good;
  }
  for (const char* bad : {"", "1a", "a.", "a/b", "a:b"}) EXPECT_FALSE(ValidateVendor(bad)) << bad;
}

TEST(CdiNames, AQualifiedNameIsSplitAtTheFirstEqualsSignAndTheFirstSlash) {
  const Result<QualifiedName> name = ParseQualifiedName("nvidia.com/gpu=GPU-1:2");
  ASSERT_TRUE(name) << name.error().message();
  EXPECT_EQ(name->kind.vendor, "nvidia.com");
  EXPECT_EQ(name->kind.device_class, "gpu");
  EXPECT_EQ(name->device, "GPU-1:2");
  EXPECT_EQ(name->ToString(), "nvidia.com/gpu=GPU-1:2");
}

TEST(CdiNames, WhatIsNotQualifiedIsRefusedWithTheReason) {
  for (const char* bad : {"0", "/dev/nvidia0", "nvidia.com/gpu", "nvidia.com=0", "/gpu=0",
                          "nvidia.com/=0", "nvidia.com/gpu=", "nvidia.com/gpu/x=0", "v/c=a=b"}) {
    EXPECT_FALSE(ParseQualifiedName(bad)) << bad;
  }
  EXPECT_EQ(ParseQualifiedName("nvidia.com/gpu=x-").error().message(),
            "device name \"x-\" must end with a letter or digit");
}

}  // namespace
}  // namespace pawl::cdi
