#include "compat/knowledge.h"

#include <algorithm>
#include <unordered_map>

#include "compat/builtin.h"

namespace pawl::compat {

namespace {

// The same text for a packed row as KeyOf makes for one in JSON.
std::string PackedKey(const SectionSchema& section, const PackedRow& row) {
  std::string key;
  for (size_t i = 0; i < section.key.size(); ++i) {
    if (i > 0) key += '|';
    const auto field = std::ranges::find(section.fields, section.key[i], &FieldSchema::name);
    const auto column = static_cast<size_t>(field - section.fields.begin());
    if (!row.Has(column)) continue;
    if (field->type == FieldType::kInteger) {
      key += std::to_string(row.Integer(column));
    } else if (field->type == FieldType::kTexts) {
      const TextList texts = row.Texts(column);
      for (size_t item = 0; item < texts.size(); ++item) {
        if (item > 0) key += ',';
        key += texts[item];
      }
    } else {
      key += row.Text(column);
    }
  }
  return key;
}

std::vector<PackedRow> RowsOf(const Blob& blob, std::string_view id) {
  std::vector<PackedRow> rows;
  const Blob::Section* section = blob.Find(id);
  if (section == nullptr) return rows;
  rows.reserve(section->rows);
  for (size_t i = 0; i < section->rows; ++i)
    rows.push_back({&blob, section->cells + i * section->columns});
  return rows;
}

// Where the rows of one section of the override meet those in force.
class Merge {
 public:
  Merge(const SectionSchema& section, std::vector<PackedRow>& rows)
      : section_(section), rows_(rows) {
    for (size_t i = 0; i < rows.size(); ++i) place_.emplace(PackedKey(section, rows[i]), i);
  }

  void Remove(const std::string& key) {
    const auto found = place_.find(key);
    if (found == place_.end()) return;
    rows_[found->second].cells = nullptr;
    place_.erase(found);
  }

  void Put(const PackedRow& row) {
    const auto [place, fresh] = place_.try_emplace(PackedKey(section_, row), rows_.size());
    if (fresh) {
      rows_.push_back(row);
    } else {
      rows_[place->second] = row;
    }
  }

  void Finish() {
    std::erase_if(rows_, [](const PackedRow& row) { return row.cells == nullptr; });
  }

 private:
  const SectionSchema& section_;
  std::vector<PackedRow>& rows_;
  std::unordered_map<std::string, size_t> place_;
};

}  // namespace

std::string_view ToString(Confidence confidence) {
  switch (confidence) {
    case Confidence::kDocumented:
      return "documented";
    case Confidence::kReported:
      return "reported";
    case Confidence::kInferred:
      return "inferred";
  }
  return "inferred";
}

bool Branch::EndOfLife(std::string_view today) const {
  if (!eol.empty()) return IsPast(eol, today);
  return eol_status == "ended";
}

const AbiStep::FirstOk* AbiStep::For(std::string_view branch, bool open) const {
  if (open) {
    const auto special = std::ranges::find(first_ok_open, branch, &FirstOk::branch);
    if (special != first_ok_open.end()) return &*special;
  }
  const auto found = std::ranges::find(first_ok, branch, &FirstOk::branch);
  return found == first_ok.end() ? nullptr : &*found;
}

Result<KnowledgeBase> KnowledgeBase::BuiltIn() {
  Result<Blob> blob = Blob::Open(BuiltInWords());
  if (!blob) return Fail(blob.error());
  auto stored = std::make_shared<Stored>();
  stored->blob = *std::move(blob);

  KnowledgeBase base;
  const std::vector<PackedRow> schema_row = RowsOf(stored->blob, kSchemaSection);
  if (schema_row.empty())
    return Fail(ErrorKind::kInternal, "compiled compatibility data: no schema");
  base.schema_text_ = schema_row.front().Text(0);
  Result<Schema> schema = ParseSchema(base.schema_text_);
  if (!schema) return Fail(schema.error());
  base.schema_ = std::make_shared<const Schema>(*std::move(schema));
  base.stored_.push_back(stored);
  for (const SectionSchema& section : base.schema_->sections) {
    base.raw_.emplace_back(section.id, RowsOf(stored->blob, section.id));
  }
  base.Bind(*base.schema_);
  return base;
}

Result<KnowledgeBase> KnowledgeBase::With(const std::vector<TextFile>& files,
                                          std::vector<std::string>* notes) const {
  std::vector<ReadRow> rows;
  for (const TextFile& file : files) {
    Result<ReadRows> read = Read(*schema_, file);
    if (!read) return Fail(read.error());
    std::ranges::move(read->rows, std::back_inserter(rows));
    if (notes != nullptr) std::ranges::move(read->notes, std::back_inserter(*notes));
  }

  auto stored = std::make_shared<Stored>();
  Packer packer;
  for (const ReadRow& row : rows) {
    if (!row.remove) packer.Add(*row.section, row.fields);
  }
  stored->words = packer.Finish("");
  Result<Blob> blob = Blob::Open(stored->words);
  if (!blob) return Fail(blob.error());
  stored->blob = *std::move(blob);

  KnowledgeBase merged;
  merged.stored_ = stored_;
  merged.stored_.push_back(stored);
  merged.schema_ = schema_;
  merged.schema_text_ = schema_text_;
  merged.raw_ = raw_;
  for (auto& [id, in_force] : merged.raw_) {
    const SectionSchema* section = schema_->Find(id, "");
    if (std::ranges::none_of(rows, [&](const ReadRow& row) { return row.section == section; }))
      continue;
    Merge merge(*section, in_force);
    const std::vector<PackedRow> packed = RowsOf(stored->blob, id);
    size_t next = 0;
    for (const ReadRow& row : rows) {
      if (row.section != section) continue;
      if (row.remove) {
        merge.Remove(KeyOf(*section, row.fields));
      } else {
        merge.Put(packed[next++]);
      }
    }
    merge.Finish();
  }
  merged.Bind(*schema_);
  return merged;
}

const Device* KnowledgeBase::FindDevice(std::string_view pci_id) const {
  const auto found = std::ranges::lower_bound(devices, pci_id, {}, &Device::pci_id);
  return found == devices.end() || found->pci_id != pci_id ? nullptr : &*found;
}

const Branch* KnowledgeBase::FindBranch(std::string_view branch) const {
  const auto found = std::ranges::find(branches, branch, &Branch::branch);
  return found == branches.end() ? nullptr : &*found;
}

const DriverVersion* KnowledgeBase::FindVersion(std::string_view version) const {
  const auto number = ParseVersion(version);
  if (!number) return nullptr;
  const auto found = std::ranges::lower_bound(versions, *number, {}, &DriverVersion::number);
  return found == versions.end() || found->number != *number ? nullptr : &*found;
}

const DeviceClass* KnowledgeBase::FindClass(std::string_view cls) const {
  const auto found = std::ranges::find(classes, cls, &DeviceClass::cls);
  return found == classes.end() ? nullptr : &*found;
}

const Rule* KnowledgeBase::FindRule(std::string_view id) const {
  const auto found = std::ranges::find(rules, id, &Rule::id);
  return found == rules.end() ? nullptr : &*found;
}

const Toolkit* KnowledgeBase::FindToolkit(std::string_view cuda) const {
  const auto number = ParseVersion(cuda);
  if (!number) return nullptr;
  const Toolkit* best = nullptr;
  for (const Toolkit& toolkit : toolkits) {
    if (toolkit.cuda == cuda) return &toolkit;
    if (toolkit.minor_number.major() != number->major() ||
        toolkit.minor_number.minor() != number->minor())
      continue;
    if (best == nullptr || toolkit.min_driver_full < best->min_driver_full) best = &toolkit;
  }
  return best;
}

}  // namespace pawl::compat
