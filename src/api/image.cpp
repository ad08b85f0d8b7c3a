#include "api/image.h"

namespace pawl::api {

Result<std::string> ResolveImage(const ImageFields& fields, std::string_view variable,
                                 std::string_view fallback) {
  const auto& [repository, image, version] = fields;
  if (repository.empty() && version.empty()) {
    if (!image.empty()) return image;
    if (!fallback.empty()) return std::string(fallback);
    return Fail(
        ErrorKind::kInvalid,
        "empty image path provided through both ClusterPolicy CR and ENV " + std::string(variable));
  }
  if (repository.empty() || image.empty() || version.empty()) {
    return Fail(ErrorKind::kInvalid,
                "invalid image specification: repository, image and version must all be set "
                "(repository=" +
                    repository + ", image=" + image + ", version=" + version + ")");
  }
  const char separator = version.starts_with("sha256:") ? '@' : ':';
  return repository + "/" + image + separator + version;
}

std::string OsTag(std::string_view id, std::string_view version_id) {
  if (id == "rhel" || id == "rocky" || id == "ol") {
    version_id = version_id.substr(0, version_id.find('.'));
  }
  return std::string(id) + std::string(version_id);
}

std::string WithOsTag(std::string_view reference, std::string_view os_tag) {
  std::string tagged(reference);
  if (reference.find("sha256:") == std::string_view::npos) tagged.append("-").append(os_tag);
  return tagged;
}

}  // namespace pawl::api
