// The text form of the data: YAML (or JSON) files with `schema_version: 1` and lists of rows
// (spec/compat.md §1). Files that keep to one JSON object a line, as ours do, are read fast.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "compat/schema.h"

namespace pawl::compat {

struct TextFile {
  std::string name;  // for messages, and `rules` of gpus.yaml means gpus.yaml's; no folder
  std::string text;
};

struct ReadRow {
  const SectionSchema* section = nullptr;
  bool remove = false;  // `remove: true`: take away the row of equal key
  json::object fields;
};

struct ReadRows {
  std::vector<ReadRow> rows;
  std::vector<std::string> notes;  // sections nobody knows; ignored, but likely a slip
};

// Every row of a file, held to the schema. Error kInvalid with file, line or row, and field: the
// first ten mistakes. Also refuses a file without schema_version, and one of another version.
Result<ReadRows> Read(const Schema& schema, const TextFile& file);

}  // namespace pawl::compat
