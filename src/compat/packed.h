// Rows in a compact binary form that is used in place: fixed-size records of 32-bit cells over a
// pool of interned texts and a pool of lists. The built-in data is such a blob in the program's
// read-only section; an override becomes a second one on the heap.
//
//   header   magic, sizes of the pools and of the section table
//   texts    a 16-bit length, then the bytes; cells hold the offset; 0 is "absent"
//   lists    a count, then that many cells; cells hold the index; 0 is "absent"
//   sections id, number of columns and rows, where its cells begin
//
// A cell is: a text or a list by reference; false 1, true 2; an integer plus one; 0 when absent.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "compat/schema.h"

namespace pawl::compat {

// A view of a blob. Copies are cheap; the bytes must outlive them.
class Blob {
 public:
  Blob() = default;

  // Checks the header and that the pools lie within the bytes, not each reference: blobs come from
  // Pack only.
  static Result<Blob> Open(std::span<const uint32_t> words);

  struct Section {
    std::string_view id;
    uint32_t columns = 0;
    uint32_t rows = 0;
    const uint32_t* cells = nullptr;
  };
  const Section* Find(std::string_view id) const;
  std::span<const Section> sections() const { return sections_; }

  std::string_view Text(uint32_t reference) const {
    uint16_t size = 0;
    std::memcpy(&size, texts_ + reference, sizeof(size));
    return {texts_ + reference + sizeof(size), size};
  }
  std::span<const uint32_t> List(uint32_t reference) const {
    return {lists_ + reference + 1, lists_[reference]};
  }

 private:
  const char* texts_ = nullptr;
  const uint32_t* lists_ = nullptr;
  std::vector<Section> sections_;
};

// A list of texts in a blob.
class TextList {
 public:
  TextList() = default;
  TextList(const Blob* blob, uint32_t reference) : blob_(blob), cells_(blob->List(reference)) {}

  size_t size() const { return cells_.size(); }
  bool empty() const { return cells_.empty(); }
  std::string_view operator[](size_t index) const { return blob_->Text(cells_[index]); }
  bool Contains(std::string_view text) const {
    for (size_t i = 0; i < size(); ++i) {
      if ((*this)[i] == text) return true;
    }
    return false;
  }

 private:
  const Blob* blob_ = nullptr;
  std::span<const uint32_t> cells_;
};

// Texts by text in a blob; small, looked up one by one.
class TextMap {
 public:
  TextMap() = default;
  TextMap(const Blob* blob, uint32_t reference) : blob_(blob), cells_(blob->List(reference)) {}

  size_t size() const { return cells_.size() / 2; }
  std::string_view key(size_t index) const { return blob_->Text(cells_[2 * index]); }
  std::string_view value(size_t index) const { return blob_->Text(cells_[2 * index + 1]); }
  std::string_view Find(std::string_view key) const {  // empty where it is missing
    for (size_t i = 0; i < size(); ++i) {
      if (this->key(i) == key) return value(i);
    }
    return {};
  }

 private:
  const Blob* blob_ = nullptr;
  std::span<const uint32_t> cells_;
};

// One row. Columns are in the order of the schema's fields.
struct PackedRow {
  const Blob* blob = nullptr;
  const uint32_t* cells = nullptr;

  bool Has(size_t column) const { return cells[column] != 0; }
  std::string_view Text(size_t column) const { return blob->Text(cells[column]); }
  bool Flag(size_t column) const { return cells[column] == 2; }
  uint32_t Integer(size_t column, uint32_t otherwise = 0) const {
    return cells[column] == 0 ? otherwise : cells[column] - 1;
  }
  TextList Texts(size_t column) const { return {blob, cells[column]}; }
  TextMap Map(size_t column) const { return {blob, cells[column]}; }
  // The rows of a nested list; `section` is the blob's "parent.field".
  std::vector<PackedRow> Rows(size_t column, std::string_view section) const;
};

// Turns checked rows into a blob: the schema's text, then each section's rows in order.
class Packer {
 public:
  Packer() {
    texts_.assign(2, '\0');
    lists_.assign(1, 0);
  }

  void Add(const SectionSchema& section, const json::object& row);
  std::vector<uint32_t> Finish(std::string_view schema_text);

 private:
  struct Packed {
    std::string id;
    uint32_t columns = 0;
    uint32_t rows = 0;
    std::vector<uint32_t> cells;
  };
  Packed& SectionFor(const std::string& id, size_t columns);
  uint32_t AddRow(const std::string& id, const std::vector<FieldSchema>& fields,
                  const json::object& row);
  uint32_t Cell(const std::string& id, const FieldSchema& field, const json::value& value);
  uint32_t Text(std::string_view text);
  uint32_t List(const std::vector<uint32_t>& cells);

  std::string texts_;
  std::vector<uint32_t> lists_;
  std::unordered_map<std::string, uint32_t> known_texts_;
  std::unordered_map<std::string, uint32_t> known_lists_;
  std::vector<Packed> sections_;
};

// The section that holds the schema's own text, in one row of one cell.
inline constexpr std::string_view kSchemaSection = "schema";

}  // namespace pawl::compat
