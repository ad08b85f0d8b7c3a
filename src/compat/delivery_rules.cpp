#include "compat/delivery_rules.h"

#include <algorithm>

#include "compat/kernel_rules.h"

namespace pawl::compat {

namespace {

bool MayBeOpen(const Gpu& gpu) { return gpu.open_kernel != "none"; }
bool MayBeProprietary(const Gpu& gpu) { return gpu.open_kernel != "required"; }

// The source of what a GPU refuses.
Provenance RefusalOf(const Question& question, bool open) {
  for (const Gpu& gpu : question.gpus) {
    if (open ? !MayBeOpen(gpu) : !MayBeProprietary(gpu)) return gpu.open_kernel_from;
  }
  return question.gpus.empty() ? Provenance{"devices", {}, Confidence::kInferred}
                               : question.gpus.front().open_kernel_from;
}

std::string_view MajorOf(std::string_view version) { return version.substr(0, version.find('.')); }

// sles 15 covers 15.6; the others are listed one by one.
bool OsListed(const Question& question) {
  const Input& input = question.input;
  return std::ranges::any_of(question.knowledge.operating_systems, [&](const OperatingSystem& row) {
    return row.os == input.os_id &&
           (input.os_version.empty() || row.versions.Contains(input.os_version) ||
            (row.os == "sles" && row.versions.Contains(MajorOf(input.os_version))));
  });
}

// Each part of the row that the input says something about must be equal.
bool InMatrix(const Question& question, const PrecompiledImage& row, std::string_view branch) {
  const Input& input = question.input;
  if (!row.branches.Contains(branch)) return false;
  if (!input.os_id.empty() && row.os != input.os_id) return false;
  if (!input.os_version.empty() && row.os_version != input.os_version) return false;
  if (!question.kernel) return true;
  return row.kernel_series == question.kernel->Series() &&
         (!question.kernel->ubuntu || row.flavour == question.kernel->flavour);
}

}  // namespace

Findings CheckGpus(const Question& question, const Candidate& candidate) {
  Findings findings;
  if (candidate.branch == nullptr) {
    findings.Reject("BRANCH_UNKNOWN", FromRule(question.knowledge, "branches"));
    return findings;
  }
  std::vector<std::string_view> dropped;
  for (const Gpu& gpu : question.gpus) {
    const Device& device = *gpu.device;
    const std::string id(device.pci_id);
    if (device.last_branch_number != 0 && candidate.branch->number > device.last_branch_number) {
      if (std::ranges::find(dropped, device.arch) != dropped.end()) continue;
      dropped.push_back(device.arch);
      findings.Reject("ARCH_DROPPED:" + std::string(device.arch), device.from, device.last_branch);
    } else if (candidate.number < gpu.min_driver) {
      findings.Reject("DRIVER_TOO_OLD_FOR_GPU:" + id, gpu.min_driver_from, gpu.min_driver_text);
    } else if (candidate.number < device.listed_from) {
      findings.Warn("GPU_NOT_LISTED:" + id, device.from, device.listed_from_text);
    }
  }
  return findings;
}

void WarnOpenNotListed(const Question& question, const Candidate& candidate, Findings& findings) {
  for (const Gpu& gpu : question.gpus) {
    if (candidate.number < gpu.device->first_listed_open &&
        candidate.number >= gpu.device->listed_from) {
      findings.Warn("GPU_NOT_LISTED:" + std::string(gpu.device->pci_id), gpu.device->from,
                    gpu.device->first_listed_open_text);
    }
  }
}

bool GpusDisagreeOnFlavour(const Question& question) {
  return !std::ranges::all_of(question.gpus, MayBeOpen) &&
         !std::ranges::all_of(question.gpus, MayBeProprietary);
}

Flavours CheckFlavours(const Question& question, const Candidate& candidate) {
  Flavours flavours;
  const std::string& wish = question.input.module_flavour;
  const bool open = wish != "proprietary" && candidate.open.value_or(true) &&
                    std::ranges::all_of(question.gpus, MayBeOpen);
  const bool proprietary = wish != "open" && !candidate.open.value_or(false) &&
                           std::ranges::all_of(question.gpus, MayBeProprietary);
  if (!open && !proprietary) {
    const bool wished_open = candidate.open.value_or(wish != "proprietary");
    flavours.findings.Reject("NO_COMMON_FLAVOUR", RefusalOf(question, wished_open));
    return flavours;
  }
  const Branch& branch = *candidate.branch;
  if (open && branch.open) flavours.open.push_back(true);
  if (proprietary && branch.proprietary) flavours.open.push_back(false);
  if (flavours.open.size() == 2 && branch.default_flavour == "proprietary")
    flavours.open = {false, true};
  if (flavours.open.empty()) flavours.findings.Reject("FLAVOUR_NOT_IN_BRANCH", branch.from);
  return flavours;
}

Findings CheckDelivery(const Question& question, const Candidate& candidate) {
  Findings findings;
  const Input& input = question.input;
  if (input.mode == "precompiled") {
    const auto in_matrix = [&](const PrecompiledImage& row) {
      return InMatrix(question, row, candidate.branch_text);
    };
    if (std::ranges::none_of(question.knowledge.precompiled, in_matrix)) {
      const Provenance from = question.knowledge.precompiled.empty()
                                  ? FromRule(question.knowledge, "built_daily")
                                  : question.knowledge.precompiled.front().from;
      findings.Reject("NO_PRECOMPILED", from);
    }
  }
  if (input.mode == "container" && (candidate.row == nullptr || !candidate.row->container)) {
    findings.Warn("NO_CONTAINER_IMAGE", candidate.row == nullptr
                                            ? FromRule(question.knowledge, "versions")
                                            : candidate.row->from);
  }
  if (!input.os_id.empty() && !OsListed(question)) {
    findings.Warn("OS_NOT_LISTED", FromRule(question.knowledge, "operating_systems"));
  }
  return findings;
}

Findings CheckLife(const Question& question, const Candidate& candidate) {
  Findings findings;
  if (candidate.branch->EndOfLife(question.input.today)) {
    findings.Warn("BRANCH_EOL", candidate.branch->from, candidate.branch->eol);
  }
  return findings;
}

std::string OsTag(const Input& input) {
  if (input.os_id.empty() || input.os_version.empty()) return "";
  const bool major_only = IsDistribution("rhel", input.os_id) && input.os_id != "rhcos";
  return input.os_id +
         std::string(major_only ? MajorOf(input.os_version) : std::string_view(input.os_version));
}

std::string ImageTag(const Question& question, const Candidate& candidate) {
  const std::string os = OsTag(question.input);
  if (os.empty()) return "";
  if (question.input.mode == "container") return candidate.version + "-" + os;
  if (question.input.mode == "precompiled" && question.kernel) {
    return candidate.branch_text + "-" + question.kernel->release + "-" + os;
  }
  return "";
}

const UbuntuPackage* Installed(const KnowledgeBase& knowledge, const UbuntuPackage& package) {
  const UbuntuPackage* now = &package;
  for (int hops = 0; hops < 8 && !now->transitional_to.empty();
       ++hops) {  // a circle would be a slip in the data
    const auto next = std::ranges::find_if(knowledge.packages, [&](const UbuntuPackage& row) {
      return row.ubuntu == now->ubuntu && row.package == now->transitional_to;
    });
    if (next == knowledge.packages.end()) return nullptr;
    now = &*next;
  }
  return now;
}

}  // namespace pawl::compat
