// Reading and building objects that are JSON values. A missing field reads as empty.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "kube/resource.h"

namespace pawl::kube {

using Labels = std::map<std::string, std::string, std::less<>>;

std::string Name(const json::value& object);
std::string Namespace(const json::value& object);
std::string Uid(const json::value& object);
std::string ResourceVersion(const json::value& object);

// Whether resource version `version` is later than `than`, of the same resource. False where they
// cannot be compared, because one is no number (spec/kubernetes-client.md §3).
bool IsLater(std::string_view version, std::string_view than);

ObjectKey KeyOf(const json::value& object);
int64_t Generation(const json::value& object);  // 0 where there is none
bool IsDeleting(const json::value& object);     // has a deletionTimestamp

// A map of texts at metadata.labels / metadata.annotations; entries that are not texts are left
// out.
Labels LabelsOf(const json::value& object);
Labels AnnotationsOf(const json::value& object);
// One of them, without building the map.
std::optional<std::string> Label(const json::value& object, std::string_view key);
std::optional<std::string> Annotation(const json::value& object, std::string_view key);

// {"apiVersion","kind","metadata":{"name"[,"namespace"]}}: what every body to apply begins with.
json::object NewObject(const Resource& resource, std::string_view ns, std::string_view name);

// The reference that makes an object `owner`'s own: garbage collection removes it after the owner.
// The owner must stand in the same namespace or in none (spec/kubernetes-client.md §8).
json::object OwnerReference(const Resource& resource, const json::value& owner);

// The owner that has `controller: true`, as its kind, name and uid; nothing if there is none.
struct Owner {
  std::string group;
  std::string kind;
  std::string name;
  std::string uid;
};
std::optional<Owner> ControllerOf(const json::value& object);

// The object less metadata.managedFields, which may be half of it; owned by the default heap.
json::value WithoutManagedFields(const json::value& object);

// A condition of status.conditions by its type, else nullptr.
const json::value* Condition(const json::value& object, std::string_view type);

// Whether everything in `desired` stands in `live` with the same value: the test for drift. Objects
// may have more members in `live`; arrays must have the same length, element by element. Quantities
// and other texts the server may rewrite are compared as texts.
bool IsSubset(const json::value& desired, const json::value& live);

}  // namespace pawl::kube
