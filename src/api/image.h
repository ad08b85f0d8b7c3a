// Which image a component runs: spec/api.md §6.1 to §6.3. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::api {

// The three fields a component of a ClusterPolicy names its image with.
struct ImageFields {
  std::string repository;
  std::string image;
  std::string version;  // a tag, or a digest "sha256:…"
};

// repository, image and version all set: "repository/image:version" (or @digest); image alone: a
// whole reference, taken as it is; nothing set: `fallback`, which came from the environment
// variable `variable`. Anything between is kInvalid, and the fallback does not rescue it.
Result<std::string> ResolveImage(const ImageFields& fields, std::string_view variable,
                                 std::string_view fallback);

// The tag of an operating system in driver images: "ubuntu22.04"; the minor version is dropped for
// rhel, rocky and ol.
std::string OsTag(std::string_view id, std::string_view version_id);

// `reference` with "-<os_tag>" appended, unless it is a digest.
std::string WithOsTag(std::string_view reference, std::string_view os_tag);

}  // namespace pawl::api
