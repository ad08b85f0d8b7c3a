#include "operator/view.h"

#include "kube/object.h"

namespace pawl::op {

ObjectPointer FindByName(const std::vector<ObjectPointer>& objects, std::string_view name) {
  for (const ObjectPointer& object : objects) {
    if (kube::Name(*object) == name) return object;
  }
  return nullptr;
}

ObjectPointer ActivePolicy(const std::vector<ObjectPointer>& policies) {
  ObjectPointer active;
  std::pair<std::string, std::string> least;
  for (const ObjectPointer& policy : policies) {
    std::pair<std::string, std::string> age(TextAt(*policy, {"metadata", "creationTimestamp"}),
                                            kube::Name(*policy));
    if (active && least < age) continue;
    active = policy;
    least = std::move(age);
  }
  return active;
}

}  // namespace pawl::op
