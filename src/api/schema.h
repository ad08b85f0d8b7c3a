// Pieces of the OpenAPI schemas in our custom resource definitions. Each returns a new schema; they
// nest as the objects they describe do.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace pawl::api::schema {

using Schema = json::object;
using Fields = std::initializer_list<std::pair<std::string_view, Schema>>;

Schema Text();
Schema Text(std::string_view fallback);  // with a default
Schema Flag();
Schema Flag(bool fallback);
Schema Integer(int64_t minimum);
Schema Integer(int64_t minimum, int64_t fallback);
Schema OneOf(std::initializer_list<std::string_view> choices);
Schema OneOf(std::initializer_list<std::string_view> choices, std::string_view fallback);
Schema Matching(std::string_view pattern);
Schema IntOrText();
Schema ListOf(Schema element);
Schema TextMap();
Schema Anything();  // an object whose fields are kept as they are
Schema Object(Fields fields, std::initializer_list<std::string_view> required = {});

// Adds the fields of `more` to those of an object schema.
Schema With(Schema object, const Schema& more);
Schema Described(std::string_view description, Schema schema);
// A CEL rule that must hold.
Schema Ruled(Schema schema, std::string_view rule, std::string_view message);

// Blocks that many components share (spec/api.md §3.1).
Schema Image();
Schema Resources();
Schema Arguments();
Schema Env();
Schema Probe();
Schema ServiceMonitor();
Schema Conditions();  // a list of metav1.Condition, one of a type

}  // namespace pawl::api::schema
