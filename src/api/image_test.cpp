#include "api/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::api {
namespace {

using testing::StartsWith;

struct Vector {
  const char* name;
  ImageFields fields;
  const char* fallback;
  const char* expected;  // nullptr: an error
  const char* error;
};

class ImageResolution : public testing::TestWithParam<Vector> {};

// spec/api.md, test vectors 1 to 6; spec/operator.md vector 22.
TEST_P(ImageResolution, FollowsTheVectors) {
  const Vector& vector = GetParam();
  const Result<std::string> image = ResolveImage(vector.fields, "VALIDATOR_IMAGE", vector.fallback);
  if (vector.expected != nullptr) {
    ASSERT_TRUE(image.has_value()) << image.error().message();
    EXPECT_EQ(*image, vector.expected);
  } else {
    ASSERT_FALSE(image.has_value()) << *image;
    EXPECT_EQ(image.error().kind(), ErrorKind::kInvalid);
    EXPECT_THAT(image.error().message(), StartsWith(vector.error));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spec, ImageResolution,
    testing::Values(
        Vector{"tag",
               {"nvcr.io/nvidia", "gpu-operator", "v1.0.0"},
               "",
               "nvcr.io/nvidia/gpu-operator:v1.0.0",
               nullptr},
        Vector{"digest",
               {"nvcr.io/nvidia", "gpu-operator", "sha256:cafe"},
               "",
               "nvcr.io/nvidia/gpu-operator@sha256:cafe",
               nullptr},
        Vector{"partial",
               {"", "driver", "535"},
               "from-env/driver:v9",
               nullptr,
               "invalid image specification"},
        Vector{"repository_only", {"r", "", ""}, "", nullptr, "invalid image specification"},
        Vector{"image_only",
               {"", "nvcr.io/nvidia/driver@sha256:cafe", ""},
               "from-env/op:v9",
               "nvcr.io/nvidia/driver@sha256:cafe",
               nullptr},
        Vector{"environment", {"", "", ""}, "from-env/op:v9", "from-env/op:v9", nullptr},
        Vector{"nothing",
               {"", "", ""},
               "",
               nullptr,
               "empty image path provided through both ClusterPolicy CR and ENV VALIDATOR_IMAGE"}),
    [](const auto& instance) { return std::string(instance.param.name); });

// spec/api.md vectors 7 to 9 and 13 to 15.
TEST(OsTags, DropTheMinorVersionWhereImagesAreSharedByMinors) {
  EXPECT_EQ(OsTag("rhel", "9.4"), "rhel9");
  EXPECT_EQ(OsTag("rhel", "10.1"), "rhel10");
  EXPECT_EQ(OsTag("rocky", "9.5"), "rocky9");
  EXPECT_EQ(OsTag("ol", "9.4"), "ol9");
  EXPECT_EQ(OsTag("ubuntu", "24.04"), "ubuntu24.04");
  EXPECT_EQ(OsTag("sles", "15.6"), "sles15.6");
  EXPECT_EQ(OsTag("sl-micro", "6.0"), "sl-micro6.0");
  EXPECT_EQ(OsTag("talos", "v1.12.6"), "talosv1.12.6");
}

TEST(OsTags, AreAppendedToTagsAndNotToDigests) {
  EXPECT_EQ(WithOsTag("nvcr.io/nvidia/driver:535.104.05", "ubuntu22.04"),
            "nvcr.io/nvidia/driver:535.104.05-ubuntu22.04");
  EXPECT_EQ(WithOsTag("nvcr.io/nvidia/driver@sha256:cafe", "ubuntu22.04"),
            "nvcr.io/nvidia/driver@sha256:cafe");
}

}  // namespace
}  // namespace pawl::api
