#include "compat/rows.h"

#include <optional>

#include "base/text.h"
#include "base/yaml.h"

namespace pawl::compat {

namespace {

constexpr size_t kMostMistakes = 10;

struct PlacedRow {
  std::string section;
  std::string place;  // "line 12" or "row 3"
  json::value value;
};

struct Document {
  json::value version;
  std::vector<PlacedRow> rows;
};

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

// "devices:" or "schema_version: 1" at the left margin.
std::optional<std::pair<std::string_view, std::string_view>> TopKey(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  for (const char c : line.substr(0, colon)) {
    if ((c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9')) return std::nullopt;
  }
  return std::pair{line.substr(0, colon), Trim(line.substr(colon + 1))};
}

// The usual shape: comments, keys at the margin, and rows as "- {json}". Nothing when the text has
// any other, and the YAML parser shall have it.
std::optional<Document> ReadLines(std::string_view text) {
  Document document;
  std::string section;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = TakeLine(text);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view trimmed = Trim(line);
    if (trimmed.starts_with("- {")) {
      if (section.empty()) return std::nullopt;
      Result<json::value> row = ParseJson(trimmed.substr(2));
      if (!row) return std::nullopt;
      document.rows.push_back({section, "line " + std::to_string(number), *std::move(row)});
      continue;
    }
    const auto top = TopKey(line);
    if (!top) return std::nullopt;
    section = top->first;
    if (top->second.empty() || top->second.starts_with('#')) continue;
    if (section == "schema_version") {
      const auto version = ParseUnsigned(top->second);
      if (!version) return std::nullopt;
      document.version = *version;
    } else if (top->second.find_first_of("{[&*!|>") == 0 && !ParseJson(top->second)) {
      return std::nullopt;
    }
    section.clear();
  }
  return document;
}

Result<Document> ReadWhole(const TextFile& file) {
  Result<json::value> value = ParseYaml(file.text);
  if (!value) return Fail(value.error().With(file.name));
  if (!value->is_object()) {
    return Fail(ErrorKind::kInvalid,
                file.name + ": expected a mapping with schema_version and lists of rows");
  }
  Document document;
  for (auto& [key, rows] : value->get_object()) {
    if (key == "schema_version") document.version = rows;
    if (!rows.is_array()) continue;
    size_t number = 0;
    for (json::value& row : rows.get_array()) {
      document.rows.push_back(
          {std::string(key), "row " + std::to_string(++number), std::move(row)});
    }
  }
  return document;
}

Status CheckVersion(const Schema& schema, const TextFile& file, const json::value& version) {
  const std::string wanted = "schema_version: " + std::to_string(schema.version);
  if (version.is_null())
    return Fail(ErrorKind::kInvalid, file.name + ": expected " + wanted + ", found none");
  const bool fits = (version.is_int64() && version.get_int64() == schema.version) ||
                    (version.is_uint64() && version.get_uint64() == schema.version);
  if (!fits) {
    return Fail(ErrorKind::kInvalid,
                file.name + ": expected " + wanted + ", found schema_version: " + ToJson(version));
  }
  return {};
}

std::vector<FieldSchema> KeyFields(const SectionSchema& section) {
  std::vector<FieldSchema> fields;
  for (const FieldSchema& field : section.fields) {
    for (const std::string& key : section.key) {
      if (field.name == key) fields.push_back(field);
    }
  }
  return fields;
}

bool AsksToRemove(const json::object& row, std::vector<std::string>& mistakes) {
  const json::value* remove = row.if_contains("remove");
  if (remove == nullptr || remove->is_null()) return false;
  if (!remove->is_bool()) {
    mistakes.push_back("remove: expected true or false, found " + ToJson(*remove));
    return false;
  }
  return remove->get_bool();
}

}  // namespace

Result<ReadRows> Read(const Schema& schema, const TextFile& file) {
  std::optional<Document> document = ReadLines(file.text);
  if (!document) {
    Result<Document> whole = ReadWhole(file);
    if (!whole) return Fail(whole.error());
    document = *std::move(whole);
  }
  if (Status version = CheckVersion(schema, file, document->version); !version)
    return Fail(version.error());

  ReadRows read;
  std::vector<std::string> mistakes;
  std::string unknown;
  for (PlacedRow& placed : document->rows) {
    const SectionSchema* section = schema.Find(placed.section, file.name);
    if (section == nullptr) {
      if (placed.section != unknown)
        read.notes.push_back(file.name + ": no section " + placed.section + " is known, ignored");
      unknown = placed.section;
      continue;
    }
    const std::string where = file.name + ": " + placed.place + " (" + placed.section + "): ";
    if (!placed.value.is_object()) {
      mistakes.push_back(where + "expected a mapping");
    } else {
      ReadRow row{section, false, std::move(placed.value.get_object())};
      std::vector<std::string> wrong;
      row.remove = AsksToRemove(row.fields, wrong);
      const std::vector<std::string> found = row.remove ? CheckRow(KeyFields(*section), row.fields)
                                                        : CheckRow(section->fields, row.fields);
      wrong.insert(wrong.end(), found.begin(), found.end());
      for (const std::string& mistake : wrong) mistakes.push_back(where + mistake);
      read.rows.push_back(std::move(row));
    }
    if (mistakes.size() >= kMostMistakes) break;
  }
  if (!mistakes.empty()) return Fail(ErrorKind::kInvalid, Join(mistakes, "\n"));
  return read;
}

}  // namespace pawl::compat
