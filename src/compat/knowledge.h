// What is known: GPUs, drivers, CUDA, frameworks, kernels and prebuilt modules, with a source for
// each row. Immutable once made; see spec/compat.md §1 for the meaning of the columns.
//
//   Result<KnowledgeBase> built_in = KnowledgeBase::BuiltIn();
//   Result<KnowledgeBase> ours = built_in->With({{"drivers.yaml", text}});  // rows replaced
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compat/packed.h"
#include "compat/rows.h"
#include "compat/version.h"

namespace pawl::compat {

enum class Confidence { kDocumented, kReported, kInferred };  // from strong to weak
std::string_view ToString(Confidence confidence);

// Where a row is from.
struct Provenance {
  std::string_view table;  // devices, abi_steps, …
  TextList sources;
  Confidence confidence = Confidence::kInferred;
};

struct Architecture {
  std::string_view arch, note;
  Provenance from;
};

struct DeviceClass {
  std::string_view cls, forward_compat,
      note;  // forward_compat: true, false, ngc_ready_only or empty
  Provenance from;
};

struct Override {
  TextList pci_ids;
  std::string_view rule, value, reason;
  Provenance from;
};

struct Device {
  std::string_view pci_id, name, chip, arch, cls, open_kernel, last_branch;
  std::string_view cc_text, min_driver_text, listed_from_text, first_listed_open_text;
  Version cc, min_driver, listed_from, first_listed_open;  // 0 where the text is empty
  uint32_t last_branch_number = 0;                         // 0: still driven
  TextList other_names;
  bool nvlink = false;
  Provenance from;
};

struct Branch {
  std::string_view branch, type, cuda_umd_text, eol, eol_status, default_flavour, latest;
  uint32_t number = 0;
  Version cuda_umd;
  bool open = false, proprietary = false;  // module flavours
  Provenance from;

  bool EndOfLife(std::string_view today) const;
};

struct OperatingSystem {
  std::string_view os;
  TextList versions;
  Provenance from;
};

struct UbuntuPackage {
  std::string_view ubuntu, package, version, transitional_to;
  Provenance from;
};

struct DriverVersion {
  std::string_view version, branch, date;
  Version number;
  bool container = false;
  Provenance from;
};

struct Toolkit {
  std::string_view cuda, minor, min_driver_full_text, min_driver_minor_text;
  Version number, minor_number, min_driver_full, min_driver_minor;
  std::vector<Version> cc_native;
  Provenance from;
};

struct ForwardPackage {
  std::string_view package, cuda;
  TextMap base_driver;
  Provenance from;
};

struct ForwardHistory {
  std::string_view cuda;
  TextList base_driver_min;
  Provenance from;
};

struct Rule {  // general rules and limits, for explanations
  std::string_view id, text, error;
  Provenance from;
};

struct BaseImage {
  std::string_view tag, cuda;
  Provenance from;
};

struct PyTorch {
  std::string_view version, default_cuda, date, note;
  Version number;
  TextList variants;
  Provenance from;
};

struct PyTorchArch {
  Version from_version, to_version;
  std::string_view platform, package, ptx_text, note;
  TextList cuda;
  std::vector<Version> sass;
  Version ptx;  // 0: none
  Provenance from;
};

struct Framework {
  std::string_view framework, from_version, to_version, cuda, built_cuda, cuda_min, cudnn,
      min_cc_text, note;
  Version min_cc;
  TextList versions, cuda_variants;
  TextMap min_cuda_for_arch;
  Provenance from;
};

struct DriverFloor {
  struct ByCc {
    Version cc_from, cc_to, min_driver;
    std::string_view min_driver_text;
  };
  std::string_view framework, variant, version, scope, min_driver_text, cuda_min, min_cc_text;
  Version min_driver, min_cc;
  TextList cuda;
  std::vector<ByCc> by_cc;
  Provenance from;
};

struct NamedImage {  // NGC and Triton releases
  std::string_view release, image, cuda, min_cc_text;
  Version min_cc;
  Provenance from;
};

struct AbiStep {
  enum class Fix { kVersion, kNever, kUnknown };
  struct FirstOk {
    std::string_view branch, version_text;
    Fix fix = Fix::kVersion;
    Version version;
  };
  std::string_view kernel_text, interface, modules, earliest_fix;
  Version kernel_from;
  std::vector<FirstOk> first_ok, first_ok_open;
  TextList never_by_date;
  Provenance from;

  const FirstOk* For(std::string_view branch, bool open) const;
};

struct Breakage {
  struct Where {
    std::string_view distro, release, series, compiler, release_string, config;
    Version from;
    bool has_from = false, any = false, risk = false;
    uint32_t abi_from = 0, compiler_ge = 0;
    TextList flavours;
  };
  struct Affected {
    std::string_view branch;
    Version lt, le, ge;  // 0: no such bound
    TextList in;
    bool vendor_build_only = false;
  };
  std::string_view id, title, modules, fix;
  std::vector<Where> kernels;
  std::vector<Affected> affected;
  Provenance from;
};

struct PrecompiledImage {
  std::string_view os, os_version, kernel_series, flavour;
  TextList branches;
  Provenance from;
};

struct UbuntuModules {
  std::string_view ubuntu, flavour, kernel, branch;
  uint32_t abi_min = 0, abi_max = 0, builds = 0;
  Provenance from;
};

class KnowledgeBase {
 public:
  // The rows compiled into the program.
  static Result<KnowledgeBase> BuiltIn();

  // The same with the rows of these files on top: a row replaces the one of equal key, `remove:
  // true` takes it away, a later file wins. kInvalid with file, row and field where a file is not
  // right; this one stays as it is. `notes`, where given, receives what was ignored.
  Result<KnowledgeBase> With(const std::vector<TextFile>& files,
                             std::vector<std::string>* notes = nullptr) const;

  const Device* FindDevice(std::string_view pci_id) const;
  const Branch* FindBranch(std::string_view branch) const;
  const DriverVersion* FindVersion(std::string_view version) const;  // by number
  const DeviceClass* FindClass(std::string_view cls) const;
  const Rule* FindRule(std::string_view id) const;
  // "12.4": the row of that minor with the lowest minimum driver; "12.4.1": that one, or the
  // minor's.
  const Toolkit* FindToolkit(std::string_view cuda) const;

  std::vector<Architecture> architectures;
  std::vector<DeviceClass> classes;
  std::vector<Override> overrides;
  std::vector<Device> devices;   // by PCI id
  std::vector<Branch> branches;  // by number
  std::vector<OperatingSystem> operating_systems;
  std::vector<UbuntuPackage> packages;
  std::vector<DriverVersion> versions;  // by number
  std::vector<Toolkit> toolkits;        // newest first
  std::vector<ForwardPackage> forward;
  std::vector<ForwardHistory> forward_history;
  std::vector<Rule> rules;
  std::vector<BaseImage> base_images;
  std::vector<PyTorch> pytorch;           // newest first
  std::vector<PyTorchArch> pytorch_arch;  // pip wheels only
  std::vector<Framework> frameworks;
  std::vector<DriverFloor> driver_floors;
  std::vector<NamedImage> ngc_images, triton_images;
  std::vector<AbiStep> abi_steps;  // by kernel
  std::vector<Breakage> breakages;
  std::vector<PrecompiledImage> precompiled;
  std::vector<UbuntuModules> ubuntu_modules;  // by kernel

  std::string_view schema_text() const { return schema_text_; }
  size_t rows() const { return rows_; }

 private:
  // The blobs that the views above point into; the built-in one is first.
  struct Stored {
    std::vector<uint32_t> words;  // empty for the built-in
    Blob blob;
  };
  using RowsBySection = std::vector<std::pair<std::string, std::vector<PackedRow>>>;

  void Bind(const Schema& schema);

  std::vector<std::shared_ptr<const Stored>> stored_;
  RowsBySection raw_;  // every row in force, for the next With
  std::shared_ptr<const Schema> schema_;
  std::string_view schema_text_;
  size_t rows_ = 0;
};

}  // namespace pawl::compat
