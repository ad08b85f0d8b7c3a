#include "compat/packed.h"

#include <algorithm>

namespace pawl::compat {

namespace {

constexpr uint32_t kMagic = 0x424b5750;  // "PWKB"
constexpr uint32_t kLayout = 1;
constexpr size_t kHeaderWords =
    6;  // magic, layout, words of texts, words of lists, sections, all words
constexpr size_t kSectionWords = 4;  // id, columns, rows, first word of the cells

}  // namespace

Result<Blob> Blob::Open(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords || words[0] != kMagic || words[1] != kLayout) {
    return Fail(ErrorKind::kInvalid,
                "compiled compatibility data: not in the form this program reads");
  }
  const size_t text_words = words[2];
  const size_t list_words = words[3];
  const size_t table = kHeaderWords + text_words + list_words;
  if (words[5] != words.size() || table + kSectionWords * words[4] > words.size()) {
    return Fail(ErrorKind::kInvalid, "compiled compatibility data: cut short");
  }
  Blob blob;
  blob.texts_ = reinterpret_cast<const char*>(words.data() + kHeaderWords);
  blob.lists_ = words.data() + kHeaderWords + text_words;
  for (size_t i = 0; i < words[4]; ++i) {
    const std::span<const uint32_t> entry = words.subspan(table + i * kSectionWords, kSectionWords);
    if (size_t{entry[3]} + size_t{entry[1]} * entry[2] > words.size()) {
      return Fail(ErrorKind::kInvalid, "compiled compatibility data: a section is cut short");
    }
    blob.sections_.push_back({blob.Text(entry[0]), entry[1], entry[2], words.data() + entry[3]});
  }
  return blob;
}

const Blob::Section* Blob::Find(std::string_view id) const {
  const auto found = std::ranges::find(sections_, id, &Section::id);
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<PackedRow> PackedRow::Rows(size_t column, std::string_view section) const {
  std::vector<PackedRow> rows;
  const Blob::Section* nested = blob->Find(section);
  if (nested == nullptr) return rows;
  for (const uint32_t index : blob->List(cells[column])) {
    rows.push_back({blob, nested->cells + size_t{index} * nested->columns});
  }
  return rows;
}

uint32_t Packer::Text(std::string_view text) {
  const auto [place, fresh] = known_texts_.try_emplace(std::string(text), 0);
  if (!fresh) return place->second;
  const auto size = static_cast<uint16_t>(std::min<size_t>(text.size(), UINT16_MAX));
  place->second = static_cast<uint32_t>(texts_.size());
  texts_.append(reinterpret_cast<const char*>(&size), sizeof(size));
  texts_.append(text.substr(0, size));
  return place->second;
}

uint32_t Packer::List(const std::vector<uint32_t>& cells) {
  const std::string bytes(reinterpret_cast<const char*>(cells.data()),
                          cells.size() * sizeof(uint32_t));
  const auto [place, fresh] = known_lists_.try_emplace(bytes, 0);
  if (!fresh) return place->second;
  place->second = static_cast<uint32_t>(lists_.size());
  lists_.push_back(static_cast<uint32_t>(cells.size()));
  lists_.insert(lists_.end(), cells.begin(), cells.end());
  return place->second;
}

uint32_t Packer::Cell(const std::string& id, const FieldSchema& field, const json::value& value) {
  std::vector<uint32_t> cells;
  switch (field.type) {
    case FieldType::kBool:
      return value.get_bool() ? 2 : 1;
    case FieldType::kInteger:
      return static_cast<uint32_t>(value.is_int64() ? value.get_int64()
                                                    : static_cast<int64_t>(value.get_uint64())) +
             1;
    case FieldType::kTexts:
      if (value.is_string()) return List({Text(value.get_string())});
      for (const json::value& item : value.get_array()) cells.push_back(Text(item.get_string()));
      return List(cells);
    case FieldType::kTextMap:
      for (const auto& item : value.get_object()) {
        cells.push_back(Text(item.key()));
        cells.push_back(Text(item.value().get_string()));
      }
      return List(cells);
    case FieldType::kRows:
      for (const json::value& item : value.get_array()) {
        cells.push_back(AddRow(id + "." + field.name, field.fields, item.get_object()));
      }
      return List(cells);
    default:
      if (value.is_bool()) return Text(value.get_bool() ? "true" : "false");
      return Text(value.get_string());
  }
}

Packer::Packed& Packer::SectionFor(const std::string& id, size_t columns) {
  const auto found = std::ranges::find(sections_, id, &Packed::id);
  if (found != sections_.end()) return *found;
  sections_.push_back({id, static_cast<uint32_t>(columns), 0, {}});
  return sections_.back();
}

uint32_t Packer::AddRow(const std::string& id, const std::vector<FieldSchema>& fields,
                        const json::object& row) {
  std::vector<uint32_t> cells;
  for (const FieldSchema& field : fields) {
    const json::value* value = row.if_contains(field.name);
    cells.push_back(value == nullptr || value->is_null() ? 0 : Cell(id, field, *value));
  }
  Packed& section = SectionFor(id, fields.size());
  section.cells.insert(section.cells.end(), cells.begin(), cells.end());
  return section.rows++;
}

void Packer::Add(const SectionSchema& section, const json::object& row) {
  AddRow(section.id, section.fields, row);
}

std::vector<uint32_t> Packer::Finish(std::string_view schema_text) {
  SectionFor(std::string(kSchemaSection), 1) = {
      std::string(kSchemaSection), 1, 1, {Text(schema_text)}};
  std::vector<uint32_t> names;
  names.reserve(sections_.size());
  for (const Packed& section : sections_) names.push_back(Text(section.id));
  texts_.resize((texts_.size() + 3) / 4 * 4);

  std::vector<uint32_t> words(kHeaderWords + texts_.size() / 4);
  std::memcpy(words.data() + kHeaderWords, texts_.data(), texts_.size());
  words.insert(words.end(), lists_.begin(), lists_.end());
  size_t first = words.size() + sections_.size() * kSectionWords;
  for (size_t i = 0; i < sections_.size(); ++i) {
    words.insert(words.end(),
                 {names[i], sections_[i].columns, sections_[i].rows, static_cast<uint32_t>(first)});
    first += sections_[i].cells.size();
  }
  for (const Packed& section : sections_) {
    words.insert(words.end(), section.cells.begin(), section.cells.end());
  }
  words[0] = kMagic;
  words[1] = kLayout;
  words[2] = static_cast<uint32_t>(texts_.size() / 4);
  words[3] = static_cast<uint32_t>(lists_.size());
  words[4] = static_cast<uint32_t>(sections_.size());
  words[5] = static_cast<uint32_t>(words.size());
  return words;
}

}  // namespace pawl::compat
