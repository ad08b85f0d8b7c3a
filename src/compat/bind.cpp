// KnowledgeBase::Bind: rows of cells to typed rows. Each bind function names the columns it reads;
// a column that the schema lacks reads as absent.
#include <algorithm>

#include "compat/knowledge.h"

namespace pawl::compat {

namespace {

// The rows of one section with their columns by name.
class Table {
 public:
  Table(const std::vector<FieldSchema>& fields, std::string id)
      : fields_(fields), id_(std::move(id)) {}

  // One past the last column for a name that the schema lacks.
  size_t Column(std::string_view name) const {
    return static_cast<size_t>(std::ranges::find(fields_, name, &FieldSchema::name) -
                               fields_.begin());
  }
  size_t columns() const { return fields_.size(); }
  const std::string& id() const { return id_; }
  const FieldSchema& field(size_t column) const { return fields_[column]; }

 private:
  const std::vector<FieldSchema>& fields_;
  std::string id_;
};

// A row being read.
class Fields {
 public:
  Fields(const Table& table, std::string_view id, const PackedRow& row)
      : table_(table), id_(id), row_(row) {}

  std::string_view Text(std::string_view name) const {
    const size_t column = table_.Column(name);
    return column < table_.columns() ? row_.Text(column) : std::string_view{};
  }
  Version Number(std::string_view name) const { return VersionOf(Text(name)); }
  bool Has(std::string_view name) const {
    const size_t column = table_.Column(name);
    return column < table_.columns() && row_.Has(column);
  }
  bool Flag(std::string_view name) const {
    const size_t column = table_.Column(name);
    return column < table_.columns() && row_.Flag(column);
  }
  uint32_t Integer(std::string_view name) const {
    const size_t column = table_.Column(name);
    return column < table_.columns() ? row_.Integer(column) : 0;
  }
  TextList Texts(std::string_view name) const {
    const size_t column = table_.Column(name);
    return column < table_.columns() ? row_.Texts(column) : TextList{};
  }
  TextMap Map(std::string_view name) const {
    const size_t column = table_.Column(name);
    return column < table_.columns() ? row_.Map(column) : TextMap{};
  }
  std::vector<Version> Numbers(std::string_view name) const {
    const TextList texts = Texts(name);
    std::vector<Version> numbers;
    for (size_t i = 0; i < texts.size(); ++i) numbers.push_back(VersionOf(texts[i]));
    return numbers;
  }
  template <typename Read>
  void ForEach(std::string_view name, const Read& read) const {
    const size_t column = table_.Column(name);
    if (column >= table_.columns()) return;
    const std::string nested = table_.id() + "." + std::string(name);
    const Table table(table_.field(column).fields, nested);
    for (const PackedRow& row : row_.Rows(column, nested)) read(Fields(table, nested, row));
  }
  Provenance From() const {
    const std::string_view confidence = Text("confidence");
    Confidence weight = Confidence::kInferred;
    if (confidence == "documented") weight = Confidence::kDocumented;
    if (confidence == "reported") weight = Confidence::kReported;
    return {id_, Texts("source"), weight};
  }

 private:
  const Table& table_;
  std::string_view id_;
  PackedRow row_;
};

void Read(const Fields& row, Architecture& out) {
  out = {row.Text("arch"), row.Text("note"), row.From()};
}

void Read(const Fields& row, DeviceClass& out) {
  out = {row.Text("cls"), row.Text("cuda_forward_compat"), row.Text("note"), row.From()};
}

void Read(const Fields& row, Override& out) {
  out = {row.Texts("pci_ids"), row.Text("rule"), row.Text("value"), row.Text("reason"), row.From()};
}

void Read(const Fields& row, Device& out) {
  out.pci_id = row.Text("pci_id");
  out.name = row.Text("name");
  out.chip = row.Text("chip");
  out.arch = row.Text("arch");
  out.cls = row.Text("class");
  out.open_kernel = row.Text("open_kernel");
  out.last_branch = row.Text("last_branch");
  out.last_branch_number = VersionOf(out.last_branch).major();
  out.cc_text = row.Text("cc");
  out.cc = VersionOf(out.cc_text);
  out.min_driver_text = row.Text("min_driver");
  out.min_driver = VersionOf(out.min_driver_text);
  out.listed_from_text = row.Text("listed_from");
  out.listed_from = VersionOf(out.listed_from_text);
  out.first_listed_open_text = row.Text("first_listed_open");
  out.first_listed_open = VersionOf(out.first_listed_open_text);
  out.other_names = row.Texts("other_product_names");
  out.nvlink = row.Flag("nvlink");
  out.from = row.From();
}

void Read(const Fields& row, Branch& out) {
  out.branch = row.Text("branch");
  out.number = VersionOf(out.branch).major();
  out.type = row.Text("type");
  out.cuda_umd_text = row.Text("cuda_umd");
  out.cuda_umd = VersionOf(out.cuda_umd_text);
  out.eol = row.Text("eol");
  out.eol_status = row.Text("eol_status");
  out.default_flavour = row.Text("default_flavour");
  out.latest = row.Text("latest");
  const TextList flavours = row.Texts("module_flavours");
  out.open = flavours.Contains("open");
  out.proprietary = flavours.Contains("proprietary");
  out.from = row.From();
}

void Read(const Fields& row, OperatingSystem& out) {
  out = {row.Text("os"), row.Texts("versions"), row.From()};
}

void Read(const Fields& row, UbuntuPackage& out) {
  out = {row.Text("ubuntu"), row.Text("package"), row.Text("version"), row.Text("transitional_to"),
         row.From()};
}

void Read(const Fields& row, DriverVersion& out) {
  out = {row.Text("version"),   row.Text("branch"),    row.Text("date"),
         row.Number("version"), row.Flag("container"), row.From()};
}

void Read(const Fields& row, Toolkit& out) {
  out.cuda = row.Text("cuda");
  out.minor = row.Text("minor");
  out.min_driver_full_text = row.Text("min_driver_full");
  out.min_driver_minor_text = row.Text("min_driver_minor_compat");
  out.number = VersionOf(out.cuda);
  out.minor_number = VersionOf(out.minor);
  out.min_driver_full = VersionOf(out.min_driver_full_text);
  out.min_driver_minor = VersionOf(out.min_driver_minor_text);
  out.cc_native = row.Numbers("cc_native");
  out.from = row.From();
}

void Read(const Fields& row, ForwardPackage& out) {
  out = {row.Text("package"), row.Text("cuda"), row.Map("base_driver"), row.From()};
}

void Read(const Fields& row, ForwardHistory& out) {
  out = {row.Text("cuda"), row.Texts("base_driver_min"), row.From()};
}

void Read(const Fields& row, Rule& out) {
  out.id = row.Has("rule") ? row.Text("rule") : row.Text("limit");
  out.text = row.Has("text") ? row.Text("text") : row.Text("value");
  out.error = row.Text("error");
  out.from = row.From();
}

void Read(const Fields& row, BaseImage& out) {
  out = {row.Text("tag"), row.Text("cuda"), row.From()};
}

void Read(const Fields& row, PyTorch& out) {
  out = {row.Text("version"),   row.Text("default_cuda"),   row.Text("date"), row.Text("note"),
         row.Number("version"), row.Texts("cuda_variants"), row.From()};
}

void Read(const Fields& row, PyTorchArch& out) {
  out.from_version = row.Number("from_version");
  out.to_version = row.Number("to_version");
  out.platform = row.Text("platform");
  out.package = row.Text("package");
  out.note = row.Text("note");
  out.cuda = row.Texts("cuda");
  out.sass = row.Numbers("sass");
  out.ptx_text = row.Text("ptx");
  out.ptx = VersionOf(out.ptx_text);
  out.from = row.From();
}

void Read(const Fields& row, Framework& out) {
  out.framework = row.Text("framework");
  out.from_version = row.Text("from_version");
  out.to_version = row.Text("to_version");
  out.cuda = row.Text("cuda");
  out.built_cuda = row.Text("built_cuda");
  out.cuda_min = row.Text("cuda_min");
  out.cudnn = row.Text("cudnn");
  out.min_cc_text = row.Text("min_cc");
  out.min_cc = VersionOf(out.min_cc_text);
  out.note = row.Text("note");
  out.versions = row.Texts("versions");
  out.cuda_variants = row.Texts("cuda_variants");
  out.min_cuda_for_arch = row.Map("min_cuda_for_arch");
  out.from = row.From();
}

void Read(const Fields& row, DriverFloor& out) {
  out.framework = row.Text("framework");
  out.variant = row.Text("variant");
  out.version = row.Text("version");
  out.scope = row.Text("scope");
  out.min_driver_text = row.Text("min_driver");
  out.min_driver = VersionOf(out.min_driver_text);
  out.cuda_min = row.Text("cuda_min");
  out.min_cc_text = row.Text("min_cc");
  out.min_cc = VersionOf(out.min_cc_text);
  out.cuda = row.Texts("cuda");
  row.ForEach("min_driver_by_cc", [&](const Fields& nested) {
    out.by_cc.push_back({nested.Number("cc_from"), nested.Number("cc_to"),
                         nested.Number("min_driver"), nested.Text("min_driver")});
  });
  out.from = row.From();
}

void Read(const Fields& row, NamedImage& out) {
  out = {row.Text("release"), row.Text("image"),    row.Text("cuda"),
         row.Text("min_cc"),  row.Number("min_cc"), row.From()};
}

std::vector<AbiStep::FirstOk> FirstOks(const TextMap& map) {
  std::vector<AbiStep::FirstOk> list;
  for (size_t i = 0; i < map.size(); ++i) {
    AbiStep::FirstOk first{map.key(i), map.value(i), AbiStep::Fix::kVersion,
                           VersionOf(map.value(i))};
    if (map.value(i) == "never") first.fix = AbiStep::Fix::kNever;
    if (map.value(i) == "unknown") first.fix = AbiStep::Fix::kUnknown;
    list.push_back(first);
  }
  return list;
}

void Read(const Fields& row, AbiStep& out) {
  out.kernel_text = row.Text("kernel_from");
  out.kernel_from = VersionOf(out.kernel_text);
  out.interface = row.Text("interface");
  out.modules = row.Text("modules");
  out.earliest_fix = row.Text("earliest_fix");
  out.first_ok = FirstOks(row.Map("first_ok"));
  out.first_ok_open = FirstOks(row.Map("first_ok_open"));
  out.never_by_date = row.Texts("never_by_date");
  out.from = row.From();
}

Breakage::Where ReadWhere(const Fields& row) {
  Breakage::Where where;
  where.distro = row.Text("distro");
  where.release = row.Text("release");
  where.series = row.Text("series");
  where.compiler = row.Text("compiler");
  where.release_string = row.Text("release_string");
  where.config = row.Text("config");
  where.has_from = row.Has("from");
  where.from = row.Number("from");
  where.any = row.Flag("any");
  where.risk = row.Flag("risk");
  where.abi_from = row.Integer("abi_from");
  where.compiler_ge = row.Integer("compiler_ge");
  where.flavours = row.Texts("flavours");
  return where;
}

void Read(const Fields& row, Breakage& out) {
  out.id = row.Text("id");
  out.title = row.Text("title");
  out.modules = row.Text("modules");
  out.fix = row.Text("fix");
  row.ForEach("kernel", [&](const Fields& nested) { out.kernels.push_back(ReadWhere(nested)); });
  row.ForEach("affected", [&](const Fields& nested) {
    out.affected.push_back({nested.Text("branch"), nested.Number("lt"), nested.Number("le"),
                            nested.Number("ge"), nested.Texts("in"),
                            nested.Flag("vendor_build_only")});
  });
  out.from = row.From();
}

void Read(const Fields& row, PrecompiledImage& out) {
  out = {row.Text("os"),      row.Text("os_version"),       row.Text("kernel_series"),
         row.Text("flavour"), row.Texts("driver_branches"), row.From()};
}

void Read(const Fields& row, UbuntuModules& out) {
  out = {row.Text("ubuntu"),     row.Text("flavour"),    row.Text("kernel"),    row.Text("branch"),
         row.Integer("abi_min"), row.Integer("abi_max"), row.Integer("builds"), row.From()};
}

}  // namespace

void KnowledgeBase::Bind(const Schema& schema) {
  const auto bind = [&]<typename T>(std::string_view id, std::vector<T>& out) {
    const auto found = std::ranges::find(schema.sections, id, &SectionSchema::id);
    const auto rows =
        std::ranges::find(raw_, id, [](const auto& pair) { return std::string_view(pair.first); });
    if (found == schema.sections.end() || rows == raw_.end()) return;
    const Table table(found->fields, found->id);
    out.reserve(out.size() + rows->second.size());
    for (const PackedRow& row : rows->second)
      Read(Fields(table, found->id, row), out.emplace_back());
    rows_ += rows->second.size();
  };
  bind("architectures", architectures);
  bind("classes", classes);
  bind("overrides", overrides);
  bind("devices", devices);
  bind("branches", branches);
  bind("operating_systems", operating_systems);
  bind("ubuntu_packages", packages);
  bind("versions", versions);
  bind("toolkits", toolkits);
  bind("forward_compatibility", forward);
  bind("forward_compatibility_history", forward_history);
  bind("compatibility_limits", rules);
  bind("general_rules", rules);
  bind("forward_compatibility_rules", rules);
  bind("framework_rules", rules);
  bind("precompiled_rules", rules);
  bind("base_image_tags", base_images);
  bind("pytorch", pytorch);
  bind("pytorch_arch", pytorch_arch);
  bind("frameworks", frameworks);
  bind("driver_floors", driver_floors);
  bind("ngc_containers", ngc_images);
  bind("triton_containers", triton_images);
  bind("abi_steps", abi_steps);
  bind("breakages", breakages);
  bind("containers", precompiled);
  bind("ubuntu_modules", ubuntu_modules);

  std::erase_if(pytorch_arch,
                [](const PyTorchArch& row) { return !row.package.empty(); });  // conda
  std::ranges::sort(devices, {}, &Device::pci_id);
  std::ranges::sort(branches, {}, &Branch::number);
  std::ranges::sort(versions, {}, &DriverVersion::number);
  std::ranges::sort(abi_steps, {}, &AbiStep::kernel_from);
  std::ranges::stable_sort(toolkits, std::ranges::greater{}, &Toolkit::number);
  std::ranges::stable_sort(pytorch, std::ranges::greater{}, &PyTorch::number);
}

}  // namespace pawl::compat
