#include "kube/object.h"

#include <algorithm>

#include "kube/store.h"

namespace pawl::kube {
namespace {

Labels TextMap(const json::value& object, std::string_view field) {
  Labels texts;
  const json::value* map = FindPath(object, {"metadata", field});
  if (map == nullptr || !map->is_object()) return texts;
  for (const auto& [key, value] : map->get_object()) {
    if (value.is_string()) texts.emplace(std::string(key), std::string(value.get_string()));
  }
  return texts;
}

std::optional<std::string> TextOf(const json::value& object, std::string_view field,
                                  std::string_view key) {
  const json::value* text = FindPath(object, {"metadata", field, key});
  if (text == nullptr || !text->is_string()) return std::nullopt;
  return std::string(text->get_string());
}

bool IsTrue(const json::value* value) {
  return value != nullptr && value->is_bool() && value->get_bool();
}

// A decimal number as the API server writes it.
bool IsVersion(std::string_view text) {
  return !text.empty() && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool IsLater(std::string_view version, std::string_view than) {
  if (!IsVersion(version) || !IsVersion(than)) return false;
  if (version.size() != than.size()) return version.size() > than.size();
  return version > than;
}

std::string Name(const json::value& object) { return TextAt(object, {"metadata", "name"}); }

std::string Namespace(const json::value& object) {
  return TextAt(object, {"metadata", "namespace"});
}

std::string Uid(const json::value& object) { return TextAt(object, {"metadata", "uid"}); }

std::string ResourceVersion(const json::value& object) {
  return TextAt(object, {"metadata", "resourceVersion"});
}

ObjectKey KeyOf(const json::value& object) { return ObjectKey{Namespace(object), Name(object)}; }

int64_t Generation(const json::value& object) {
  const json::value* generation = FindPath(object, {"metadata", "generation"});
  if (generation == nullptr || !generation->is_int64()) return 0;
  return generation->get_int64();
}

bool IsDeleting(const json::value& object) {
  return !TextAt(object, {"metadata", "deletionTimestamp"}).empty();
}

Labels LabelsOf(const json::value& object) { return TextMap(object, "labels"); }

Labels AnnotationsOf(const json::value& object) { return TextMap(object, "annotations"); }

std::optional<std::string> Label(const json::value& object, std::string_view key) {
  return TextOf(object, "labels", key);
}

std::optional<std::string> Annotation(const json::value& object, std::string_view key) {
  return TextOf(object, "annotations", key);
}

json::object NewObject(const Resource& resource, std::string_view ns, std::string_view name) {
  json::object metadata;
  metadata["name"] = name;
  if (resource.namespaced && !ns.empty()) metadata["namespace"] = ns;
  json::object object;
  object["apiVersion"] = resource.ApiVersion();
  object["kind"] = resource.kind;
  object["metadata"] = std::move(metadata);
  return object;
}

json::object OwnerReference(const Resource& resource, const json::value& owner) {
  json::object reference;
  reference["apiVersion"] = resource.ApiVersion();
  reference["kind"] = resource.kind;
  reference["name"] = Name(owner);
  reference["uid"] = Uid(owner);
  reference["controller"] = true;
  reference["blockOwnerDeletion"] = true;
  return reference;
}

std::optional<Owner> ControllerOf(const json::value& object) {
  const json::value* references = FindPath(object, {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return std::nullopt;
  for (const json::value& reference : references->get_array()) {
    if (!IsTrue(Find(reference, "controller"))) continue;
    const std::string api_version = TextAt(reference, {"apiVersion"});
    const size_t slash = api_version.find('/');
    Owner owner;
    if (slash != std::string::npos) owner.group = api_version.substr(0, slash);
    owner.kind = TextAt(reference, {"kind"});
    owner.name = TextAt(reference, {"name"});
    owner.uid = TextAt(reference, {"uid"});
    return owner;
  }
  return std::nullopt;
}

json::value WithoutManagedFields(const json::value& object) {
  if (!object.is_object()) return json::value(object, json::storage_ptr());
  json::object copy;
  for (const auto& [key, value] : object.get_object()) {
    if (key != "metadata" || !value.is_object()) {
      copy.emplace(key, value);
      continue;
    }
    json::object metadata;
    for (const auto& [name, field] : value.get_object()) {
      if (name != "managedFields") metadata.emplace(name, field);
    }
    copy.emplace(key, std::move(metadata));
  }
  return copy;
}

Result<json::value> KeepWhole(const json::value& object) { return WithoutManagedFields(object); }

const json::value* Condition(const json::value& object, std::string_view type) {
  const json::value* conditions = FindPath(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  for (const json::value& condition : conditions->get_array()) {
    if (TextAt(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool IsSubset(const json::value& desired, const json::value& live) {
  if (desired.is_object()) {
    if (!live.is_object()) return false;
    for (const auto& [key, value] : desired.get_object()) {
      const json::value* found = live.get_object().if_contains(key);
      if (found == nullptr || !IsSubset(value, *found)) return false;
    }
    return true;
  }
  if (desired.is_array()) {
    if (!live.is_array()) return false;
    const json::array& wanted = desired.get_array();
    const json::array& have = live.get_array();
    if (wanted.size() != have.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!IsSubset(wanted[i], have[i])) return false;
    }
    return true;
  }
  return desired == live;
}

}  // namespace pawl::kube
