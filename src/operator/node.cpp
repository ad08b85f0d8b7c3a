#include "operator/node.h"

#include "operator/names.h"

namespace pawl::op {
namespace {

constexpr std::string_view kFeaturePrefix = "feature.node.kubernetes.io/";
constexpr std::string_view kVendorPrefix = "nvidia.com/";

bool TellsGpu(std::string_view key) {
  for (const std::string_view wanted : kGpuPciLabels) {
    if (key == wanted) return true;
  }
  return false;
}

}  // namespace

Result<Node> ParseNode(const json::value& object) {
  Node node;
  node.name = kube::Name(object);
  if (node.name.empty()) return Fail(ErrorKind::kInvalid, "a Node without metadata.name");
  node.resource_version = kube::ResourceVersion(object);
  for (auto& [key, value] : kube::LabelsOf(object)) {
    if (key.starts_with(kFeaturePrefix)) node.has_nfd = true;
    if (key.starts_with(kVendorPrefix) || TellsGpu(key)) node.labels.emplace(key, value);
  }
  if (const json::value* condition = kube::Condition(object, kGpuReadyCondition)) {
    node.gpu_ready = {TextAt(*condition, {"status"}), TextAt(*condition, {"reason"}),
                      TextAt(*condition, {"message"})};
  }
  return node;
}

bool DiffersForDecisions(const Node& one, const Node& other) {
  return one.name != other.name || one.labels != other.labels || one.has_nfd != other.has_nfd ||
         one.gpu_ready != other.gpu_ready;
}

}  // namespace pawl::op
