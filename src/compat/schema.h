// What a row of the compatibility data may hold: sections, their fields and types. The schema is
// itself data (compat/data/schema.json), compiled in beside the rows it describes; see
// spec/compat.md §1. Built-in data and overrides are held to the same one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pawl::compat {

enum class FieldType {
  kText,
  kVersion,  // 580.126.20
  kBranch,   // 580
  kCc,       // compute capability, 9.0
  kPciId,    // 1EB8
  kDate,     // YYYY, YYYY-MM or YYYY-MM-DD
  kBool,     //
  kInteger,  // 0 … 2^31
  kTexts,    // a list; one text counts as a list of one
  kTextMap,  // texts by text
  kRows,     // nested rows with fields of their own
};

struct FieldSchema {
  std::string name;
  FieldType type = FieldType::kText;
  bool required = false;
  std::vector<std::string> one_of;  // empty: anything goes
  std::vector<FieldSchema> fields;  // of kRows
};

struct SectionSchema {
  std::string id;                   // unique
  std::string name;                 // the key in a file; `rules` occurs in two files
  std::string file;                 // where the built-in rows are: gpus.yaml
  std::vector<std::string> key;     // the fields that tell rows apart
  std::vector<FieldSchema> fields;  // with source and confidence, which every row has
};

struct Schema {
  uint32_t version = 0;  // of the data files: schema_version
  std::vector<SectionSchema> sections;

  // The section that `name` in file `file` means: by its id, or by its name where that is unique
  // or the file is its own. nullptr for one we do not know.
  const SectionSchema* Find(std::string_view name, std::string_view file) const;
};

Result<Schema> ParseSchema(std::string_view text);

// What is wrong with a row, as "field: expected …, found …"; empty when nothing is. Fields that the
// schema does not name are ignored (spec/compat.md §1).
std::vector<std::string> CheckRow(const std::vector<FieldSchema>& fields, const json::object& row);

// The values of the section's key fields as one text.
std::string KeyOf(const SectionSchema& section, const json::object& row);

}  // namespace pawl::compat
