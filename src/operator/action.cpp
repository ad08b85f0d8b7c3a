#include "operator/action.h"

#include "base/text.h"
#include "base/yaml.h"
#include "kube/object.h"

namespace pawl::op {
namespace {

std::string Indented(std::string_view text) {
  std::string out;
  for (const std::string& line : Lines(text)) out += "    " + line + "\n";
  return out;
}

struct SubjectOf {
  std::string operator()(const PatchNode& patch) const { return "Node " + patch.node; }
  std::string operator()(const ApplyObject& apply) const {
    std::string text = std::string(apply.resource.kind) + " " + kube::KeyOf(apply.object).Text();
    return apply.subresource.empty() ? text : text + " " + apply.subresource;
  }
  std::string operator()(const DeleteObject& gone) const {
    return std::string(gone.resource.kind) + " " + kube::ObjectKey{gone.ns, gone.name}.Text();
  }
};

struct VerbOf {
  const char* operator()(const PatchNode&) const { return "label"; }
  const char* operator()(const ApplyObject&) const { return "apply"; }
  const char* operator()(const DeleteObject&) const { return "delete"; }
};

struct DetailOf {
  std::string operator()(const PatchNode& patch) const {
    std::string text;
    for (const auto& [key, value] : patch.labels) {
      text += value ? "    " + key + "=" + *value + "\n" : "    " + key + " goes\n";
    }
    return text;
  }
  std::string operator()(const ApplyObject& apply) const { return Indented(ToYaml(apply.object)); }
  std::string operator()(const DeleteObject&) const { return ""; }
};

}  // namespace

std::string Subject(const Action& action) { return std::visit(SubjectOf{}, action.what); }

std::string Describe(const Action& action) {
  return std::string(std::visit(VerbOf{}, action.what)) + " " + Subject(action) + ": " +
         action.why + "\n" + std::visit(DetailOf{}, action.what);
}

json::object ToJsonValue(const Action& action) {
  json::object out = {{"verb", std::visit(VerbOf{}, action.what)},
                      {"subject", Subject(action)},
                      {"why", action.why}};
  if (const auto* patch = std::get_if<PatchNode>(&action.what)) out["patch"] = MergePatch(*patch);
  if (const auto* apply = std::get_if<ApplyObject>(&action.what)) out["object"] = apply->object;
  return out;
}

json::object MergePatch(const PatchNode& patch) {
  json::object labels;
  for (const auto& [key, value] : patch.labels) {
    if (value) {
      labels[key] = *value;
    } else {
      labels[key] = nullptr;
    }
  }
  json::object metadata;
  metadata["resourceVersion"] = patch.resource_version;
  metadata["labels"] = std::move(labels);
  json::object body;
  body["metadata"] = std::move(metadata);
  return body;
}

}  // namespace pawl::op
