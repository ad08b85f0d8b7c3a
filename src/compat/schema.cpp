#include "compat/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace pawl::compat {

namespace {

constexpr std::array<std::pair<std::string_view, FieldType>, 11> kTypes = {{
    {"text", FieldType::kText},
    {"version", FieldType::kVersion},
    {"branch", FieldType::kBranch},
    {"cc", FieldType::kCc},
    {"pci_id", FieldType::kPciId},
    {"date", FieldType::kDate},
    {"bool", FieldType::kBool},
    {"integer", FieldType::kInteger},
    {"texts", FieldType::kTexts},
    {"text_map", FieldType::kTextMap},
    {"rows", FieldType::kRows},
}};

Result<std::vector<FieldSchema>> ParseFields(const json::value* fields) {
  std::vector<FieldSchema> parsed;
  if (fields == nullptr || !fields->is_object()) return parsed;
  for (const auto& [name, value] : fields->get_object()) {
    FieldSchema field;
    field.name = name;
    const std::string type = TextAt(value, {"type"});
    const auto* known =
        std::ranges::find_if(kTypes, [&](const auto& pair) { return pair.first == type; });
    if (known == kTypes.end()) {
      return Fail(ErrorKind::kInvalid,
                  "schema: field " + field.name + " has no type \"" + type + "\"");
    }
    field.type = known->second;
    const json::value* required = Find(value, "required");
    field.required = required != nullptr && required->is_bool() && required->get_bool();
    if (const json::value* choices = Find(value, "one_of");
        choices != nullptr && choices->is_array()) {
      for (const json::value& choice : choices->get_array()) {
        if (choice.is_string()) field.one_of.emplace_back(choice.get_string());
      }
    }
    Result<std::vector<FieldSchema>> nested = ParseFields(Find(value, "fields"));
    if (!nested) return Fail(nested.error());
    field.fields = *std::move(nested);
    parsed.push_back(std::move(field));
  }
  return parsed;
}

bool AllDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool DottedNumbers(std::string_view text, size_t least, size_t most) {
  const std::vector<std::string> parts = Split(text, '.');
  return parts.size() >= least && parts.size() <= most &&
         std::ranges::all_of(
             parts, [](const std::string& part) { return AllDigits(part) && part.size() < 9; });
}

bool IsPciId(std::string_view text) {
  return text.size() == 4 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
         });
}

bool IsDate(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '-');
  if (parts.empty() || parts.size() > 3 || parts[0].size() != 4) return false;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].size() != 2) return false;
    const auto number = ParseUnsigned(parts[i]);
    if (!number || *number == 0 || *number > (i == 1 ? 12 : 31)) return false;
  }
  return std::ranges::all_of(parts, [](const std::string& part) { return AllDigits(part); });
}

std::string_view Expectation(FieldType type) {
  switch (type) {
    case FieldType::kText:
      return "a text";
    case FieldType::kVersion:
      return "a version in quotes, as \"580.126.20\"";
    case FieldType::kBranch:
      return "a branch in quotes, as \"580\"";
    case FieldType::kCc:
      return "a compute capability in quotes, as \"9.0\"";
    case FieldType::kPciId:
      return "four upper-case hexadecimal digits in quotes, as \"1EB8\"";
    case FieldType::kDate:
      return "a date in quotes, as \"2026\", \"2026-12\" or \"2026-12-01\"";
    case FieldType::kBool:
      return "true or false";
    case FieldType::kInteger:
      return "a whole number from 0 on";
    case FieldType::kTexts:
      return "a list of texts";
    case FieldType::kTextMap:
      return "a mapping of texts to texts";
    case FieldType::kRows:
      return "a list of mappings";
  }
  return "something else";
}

bool FitsText(FieldType type, std::string_view text) {
  switch (type) {
    case FieldType::kVersion:
      return DottedNumbers(text, 1, 4);
    case FieldType::kBranch:
      return AllDigits(text) && text.size() < 9;
    case FieldType::kCc:
      return DottedNumbers(text, 2, 2);
    case FieldType::kPciId:
      return IsPciId(text);
    case FieldType::kDate:
      return IsDate(text);
    default:
      return true;
  }
}

bool IsChoice(const FieldSchema& field, std::string_view text) {
  return field.one_of.empty() || std::ranges::find(field.one_of, text) != field.one_of.end();
}

bool FitsTexts(const json::value& value) {
  return value.is_string() ||
         (value.is_array() && std::ranges::all_of(value.get_array(), [](const json::value& item) {
            return item.is_string();
          }));
}

bool FitsTextMap(const json::value& value) {
  return value.is_object() && std::ranges::all_of(value.get_object(), [](const auto& item) {
           return item.value().is_string();
         });
}

bool FitsInteger(const json::value& value) {
  return (value.is_int64() && value.get_int64() >= 0 && value.get_int64() < (int64_t{1} << 31)) ||
         (value.is_uint64() && value.get_uint64() < (uint64_t{1} << 31));
}

bool Fits(const FieldSchema& field, const json::value& value) {
  switch (field.type) {
    case FieldType::kBool:
      return value.is_bool();
    case FieldType::kInteger:
      return FitsInteger(value);
    case FieldType::kTexts:
      return FitsTexts(value);
    case FieldType::kTextMap:
      return FitsTextMap(value);
    case FieldType::kRows:
      return value.is_array() &&
             std::ranges::all_of(value.get_array(),
                                 [](const json::value& item) { return item.is_object(); });
    case FieldType::kText:
      // `true` and `false` are words of some columns.
      return value.is_string() || (value.is_bool() && !field.one_of.empty());
    default:
      return value.is_string() && FitsText(field.type, value.get_string());
  }
}

// The first text of `value` that is none of the field's choices.
std::string WrongChoice(const FieldSchema& field, const json::value& value) {
  if (field.one_of.empty()) return "";
  std::vector<std::string> texts;
  if (value.is_string()) texts.emplace_back(value.get_string());
  if (value.is_bool()) texts.emplace_back(value.get_bool() ? "true" : "false");
  if (value.is_array()) {
    for (const json::value& item : value.get_array()) texts.emplace_back(item.get_string());
  }
  if (value.is_object()) {
    for (const auto& item : value.get_object()) texts.emplace_back(item.value().get_string());
  }
  for (const std::string& text : texts) {
    if (!IsChoice(field, text)) return text;
  }
  return "";
}

void CheckField(const FieldSchema& field, const json::value& value,
                std::vector<std::string>& found) {
  if (!Fits(field, value)) {
    std::string shown = ToJson(value);
    if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
    found.push_back(field.name + ": expected " + std::string(Expectation(field.type)) + ", found " +
                    shown);
    return;
  }
  if (const std::string wrong = WrongChoice(field, value); !wrong.empty()) {
    found.push_back(field.name + ": expected one of " + Join(field.one_of, ", ") + ", found \"" +
                    wrong + "\"");
    return;
  }
  if (field.type != FieldType::kRows) return;
  size_t index = 0;
  for (const json::value& item : value.get_array()) {
    for (const std::string& inner : CheckRow(field.fields, item.get_object())) {
      found.push_back(field.name + "[" + std::to_string(index) + "]." + inner);
    }
    ++index;
  }
}

void AppendKey(const json::value& value, std::string& key) {
  if (value.is_string()) key += value.get_string();
  if (value.is_int64()) key += std::to_string(value.get_int64());
  if (value.is_uint64()) key += std::to_string(value.get_uint64());
  if (!value.is_array()) return;
  std::string_view between;
  for (const json::value& item : value.get_array()) {
    key += std::exchange(between, ",");
    AppendKey(item, key);
  }
}

}  // namespace

const SectionSchema* Schema::Find(std::string_view name, std::string_view file) const {
  const SectionSchema* by_name = nullptr;
  size_t same_name = 0;
  for (const SectionSchema& section : sections) {
    if (section.id == name || (section.name == name && section.file == file)) return &section;
    if (section.name == name) {
      by_name = &section;
      ++same_name;
    }
  }
  return same_name == 1 ? by_name : nullptr;
}

Result<Schema> ParseSchema(std::string_view text) {
  Result<json::value> value = ParseJson(text);
  if (!value) return Fail(value.error().With("schema"));
  Schema schema;
  const json::value* version = Find(*value, "schema_version");
  const json::value* sections = Find(*value, "sections");
  if (version == nullptr || !version->is_int64() || sections == nullptr || !sections->is_object()) {
    return Fail(ErrorKind::kInvalid, "schema: needs schema_version and sections");
  }
  schema.version = static_cast<uint32_t>(version->get_int64());
  for (const auto& [id, body] : sections->get_object()) {
    SectionSchema section;
    section.id = id;
    section.name = TextAt(body, {"name"}, section.id);
    section.file = TextAt(body, {"file"});
    if (const json::value* key = pawl::Find(body, "key"); key != nullptr && key->is_array()) {
      for (const json::value& field : key->get_array())
        section.key.emplace_back(field.get_string());
    }
    Result<std::vector<FieldSchema>> fields = ParseFields(pawl::Find(body, "fields"));
    if (!fields) return Fail(fields.error().With(section.id));
    section.fields = *std::move(fields);
    section.fields.push_back({"source", FieldType::kTexts, true, {}, {}});
    section.fields.push_back(
        {"confidence", FieldType::kText, true, {"documented", "reported", "inferred"}, {}});
    schema.sections.push_back(std::move(section));
  }
  return schema;
}

std::vector<std::string> CheckRow(const std::vector<FieldSchema>& fields, const json::object& row) {
  std::vector<std::string> found;
  for (const FieldSchema& field : fields) {
    const json::value* value = row.if_contains(field.name);
    if (value == nullptr || value->is_null()) {
      if (field.required) found.push_back(field.name + ": is required");
      continue;
    }
    CheckField(field, *value, found);
  }
  return found;
}

std::string KeyOf(const SectionSchema& section, const json::object& row) {
  std::string key;
  for (size_t i = 0; i < section.key.size(); ++i) {
    if (i > 0) key += '|';
    if (const json::value* value = row.if_contains(section.key[i])) AppendKey(*value, key);
  }
  return key;
}

}  // namespace pawl::compat
