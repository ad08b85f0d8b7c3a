#include "api/schema.h"

namespace pawl::api::schema {
namespace {

// As Kubernetes parses quantities.
constexpr std::string_view kQuantity =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

// As Prometheus writes durations.
constexpr std::string_view kDuration =
    "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$";

Schema Typed(std::string_view type) {
  Schema schema;
  schema["type"] = type;
  return schema;
}

json::array Texts(std::initializer_list<std::string_view> texts) {
  json::array out;
  for (const std::string_view text : texts) out.emplace_back(text);
  return out;
}

Schema QuantityMap() {
  Schema quantity = IntOrText();
  quantity["pattern"] = kQuantity;
  Schema map = Typed("object");
  map["additionalProperties"] = std::move(quantity);
  return map;
}

}  // namespace

Schema Text() { return Typed("string"); }

Schema Text(std::string_view fallback) {
  Schema schema = Text();
  schema["default"] = fallback;
  return schema;
}

Schema Flag() { return Typed("boolean"); }

Schema Flag(bool fallback) {
  Schema schema = Flag();
  schema["default"] = fallback;
  return schema;
}

Schema Integer(int64_t minimum) {
  Schema schema = Typed("integer");
  schema["format"] = "int32";
  schema["minimum"] = minimum;
  return schema;
}

Schema Integer(int64_t minimum, int64_t fallback) {
  Schema schema = Integer(minimum);
  schema["default"] = fallback;
  return schema;
}

Schema OneOf(std::initializer_list<std::string_view> choices) {
  Schema schema = Text();
  schema["enum"] = Texts(choices);
  return schema;
}

Schema OneOf(std::initializer_list<std::string_view> choices, std::string_view fallback) {
  Schema schema = OneOf(choices);
  schema["default"] = fallback;
  return schema;
}

Schema Matching(std::string_view pattern) {
  Schema schema = Text();
  schema["pattern"] = pattern;
  return schema;
}

Schema IntOrText() {
  Schema schema;
  schema["anyOf"] = json::array{Typed("integer"), Typed("string")};
  schema["x-kubernetes-int-or-string"] = true;
  return schema;
}

Schema ListOf(Schema element) {
  Schema schema = Typed("array");
  schema["items"] = std::move(element);
  return schema;
}

Schema TextMap() {
  Schema schema = Typed("object");
  schema["additionalProperties"] = Typed("string");
  return schema;
}

Schema Anything() {
  Schema schema = Typed("object");
  schema["x-kubernetes-preserve-unknown-fields"] = true;
  return schema;
}

Schema Object(Fields fields, std::initializer_list<std::string_view> required) {
  json::object properties;
  for (const auto& [name, schema] : fields) properties[name] = schema;
  Schema object = Typed("object");
  object["properties"] = std::move(properties);
  if (required.size() > 0) object["required"] = Texts(required);
  return object;
}

Schema With(Schema object, const Schema& more) {
  json::object& properties = object["properties"].as_object();
  for (const auto& member : more.at("properties").as_object()) {
    properties[member.key()] = member.value();
  }
  return object;
}

Schema Described(std::string_view description, Schema schema) {
  schema["description"] = description;
  return schema;
}

Schema Ruled(Schema schema, std::string_view rule, std::string_view message) {
  json::value& rules = schema["x-kubernetes-validations"];
  if (rules.is_null()) rules = json::array();
  json::object one;
  one["rule"] = rule;
  one["message"] = message;
  rules.as_array().emplace_back(std::move(one));
  return schema;
}

Schema Image() {
  return Object({{"repository", Text()},
                 {"image", Matching("[a-zA-Z0-9\\-]+")},
                 {"version", Text()},
                 {"imagePullPolicy", Text()},
                 {"imagePullSecrets", ListOf(Text())}});
}

Schema Resources() {
  return Object({{"resources", Object({{"limits", QuantityMap()}, {"requests", QuantityMap()}})}});
}

Schema Arguments() { return Object({{"args", ListOf(Text())}}); }

Schema Env() {
  return Object({{"env", ListOf(Object({{"name", Text()}, {"value", Text()}}, {"name"}))}});
}

Schema Probe() {
  return Object({{"initialDelaySeconds", Integer(0)},
                 {"timeoutSeconds", Integer(1)},
                 {"periodSeconds", Integer(1)},
                 {"successThreshold", Integer(1)},
                 {"failureThreshold", Integer(1)}});
}

Schema ServiceMonitor() {
  Schema modulus = Integer(0);
  modulus["format"] = "int64";
  const Schema relabeling =
      Object({{"sourceLabels", ListOf(Text())},
              {"separator", Text()},
              {"targetLabel", Text()},
              {"regex", Text()},
              {"modulus", modulus},
              {"replacement", Text()},
              {"action",
               OneOf({"replace",   "Replace",   "keep",      "Keep",      "drop",      "Drop",
                      "hashmod",   "HashMod",   "labelmap",  "LabelMap",  "labeldrop", "LabelDrop",
                      "labelkeep", "LabelKeep", "lowercase", "Lowercase", "uppercase", "Uppercase",
                      "keepequal", "KeepEqual", "dropequal", "DropEqual"},
                     "replace")}});
  return Object({{"enabled", Flag()},
                 {"interval", Matching(kDuration)},
                 {"scrapeTimeout", Matching(kDuration)},
                 {"honorLabels", Flag()},
                 {"additionalLabels", TextMap()},
                 {"relabelings", ListOf(relabeling)}});
}

Schema Conditions() {
  Schema time = Text();
  time["format"] = "date-time";
  Schema generation = Integer(0);
  generation["format"] = "int64";
  Schema list = ListOf(Object({{"type", Text()},
                               {"status", OneOf({"True", "False", "Unknown"})},
                               {"reason", Text()},
                               {"message", Text()},
                               {"lastTransitionTime", time},
                               {"observedGeneration", generation}},
                              {"type", "status", "reason", "message", "lastTransitionTime"}));
  list["x-kubernetes-list-type"] = "map";
  list["x-kubernetes-list-map-keys"] = json::array{"type"};
  return list;
}

}  // namespace pawl::api::schema
