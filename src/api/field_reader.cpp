#include "api/field_reader.h"

#include "base/text.h"

namespace pawl::api {
namespace {

// The value in a message: short, and never a whole document.
std::string Shown(const json::value& value) {
  constexpr size_t kMost = 60;
  std::string text = ToJson(value);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

bool SaysNothing(const json::value& value) {
  if (value.is_null()) return true;
  if (const bool* flag = value.if_bool()) return !*flag;
  if (const json::string* text = value.if_string()) return text->empty();
  if (const json::array* list = value.if_array()) return list->empty();
  if (const int64_t* number = value.if_int64()) return *number == 0;
  if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) {
      if (!SaysNothing(member.value())) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

FieldReader::FieldReader(const json::value* object, std::string path, Findings& findings)
    : path_(std::move(path)), findings_(findings) {
  if (object == nullptr || object->is_null()) return;
  object_ = object->if_object();
  if (object_ == nullptr) {
    findings_.errors.push_back(path_ + ": expected an object, found " + Shown(*object));
  }
}

const json::value* FieldReader::Look(std::string_view key) {
  read_.insert(std::string(key));
  if (object_ == nullptr) return nullptr;
  const json::value* value = object_->if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void FieldReader::Wrong(std::string_view key, std::string_view expected, const json::value& found) {
  findings_.errors.push_back(path_ + "." + std::string(key) + ": expected " +
                             std::string(expected) + ", found " + Shown(found));
}

std::optional<bool> FieldReader::Bool(std::string_view key) {
  const json::value* value = Look(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_bool()) return value->get_bool();
  Wrong(key, "true or false", *value);
  return std::nullopt;
}

std::optional<int64_t> FieldReader::Integer(std::string_view key) {
  const json::value* value = Look(key);
  if (value == nullptr) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<int64_t>(error);
  if (!error) return number;
  Wrong(key, "an integer", *value);
  return std::nullopt;
}

std::optional<std::string> FieldReader::OptionalText(std::string_view key) {
  const json::value* value = Look(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string(value->get_string());
  Wrong(key, "a string", *value);
  return std::nullopt;
}

std::string FieldReader::Text(std::string_view key, std::string_view otherwise) {
  return OptionalText(key).value_or(std::string(otherwise));
}

std::string FieldReader::OneOf(std::string_view key,
                               std::initializer_list<std::string_view> choices,
                               std::string_view otherwise) {
  const std::string text = Text(key);
  if (text.empty()) return std::string(otherwise);
  std::vector<std::string> names;
  for (const std::string_view choice : choices) {
    if (text == choice) return text;
    names.emplace_back(choice);
  }
  Wrong(key, "one of " + Join(names, ", "), json::value(json::string(text)));
  return std::string(otherwise);
}

std::vector<std::string> FieldReader::Texts(std::string_view key) {
  std::vector<std::string> texts;
  const json::value* value = Look(key);
  if (value == nullptr) return texts;
  const json::array* list = value->if_array();
  if (list == nullptr) {
    Wrong(key, "a list of strings", *value);
    return texts;
  }
  for (const json::value& element : *list) {
    if (element.is_string()) {
      texts.emplace_back(element.get_string());
    } else {
      Wrong(key, "a list of strings", element);
    }
  }
  return texts;
}

std::map<std::string, std::string> FieldReader::TextMap(std::string_view key) {
  std::map<std::string, std::string> texts;
  const json::value* value = Look(key);
  if (value == nullptr) return texts;
  const json::object* object = value->if_object();
  if (object == nullptr) {
    Wrong(key, "a map of strings", *value);
    return texts;
  }
  for (const auto& member : *object) {
    if (member.value().is_string()) {
      texts.emplace(member.key(), member.value().get_string());
    } else {
      Wrong(std::string(key) + "." + std::string(member.key()), "a string", member.value());
    }
  }
  return texts;
}

json::object FieldReader::Object(std::string_view key) {
  const json::value* value = Look(key);
  if (value == nullptr) return {};
  if (const json::object* object = value->if_object()) return *object;
  Wrong(key, "an object", *value);
  return {};
}

json::array FieldReader::Objects(std::string_view key) {
  const json::value* value = Look(key);
  if (value == nullptr) return {};
  const json::array* list = value->if_array();
  if (list == nullptr) {
    Wrong(key, "a list of objects", *value);
    return {};
  }
  for (const json::value& element : *list) {
    if (!element.is_object()) {
      Wrong(key, "a list of objects", element);
      return {};
    }
  }
  return *list;
}

FieldReader FieldReader::In(std::string_view key) {
  return {Look(key), path_ + "." + std::string(key), findings_};
}

void FieldReader::ReportUnread(
    std::initializer_list<std::pair<std::string_view, std::string_view>> defaults) {
  if (object_ == nullptr) return;
  for (const auto& member : *object_) {
    const std::string_view key(member.key().data(), member.key().size());
    if (read_.contains(key) || SaysNothing(member.value())) continue;
    bool is_default = false;
    for (const auto& [name, value] : defaults) {
      const json::string* text = member.value().if_string();
      if (name == key && text != nullptr && std::string_view(*text) == value) is_default = true;
    }
    if (is_default) continue;
    findings_.warnings.push_back(path_ + "." + std::string(key) +
                                 ": this version does nothing with it");
  }
}

}  // namespace pawl::api
