// The input made ready for the rules, and what they say about one candidate. Inside of the
// resolver; callers use resolve.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/answer.h"
#include "compat/input.h"
#include "compat/knowledge.h"
#include "compat/version.h"

namespace pawl::compat {

// A code with the row that gives it. `detail` is the row's own words, where it has any.
struct Reason {
  std::string code;
  std::string_view detail;
  Provenance from;
};

// A GPU with the overrides laid over its row.
struct Gpu {
  const Device* device = nullptr;
  const DeviceClass* cls = nullptr;
  Version min_driver;
  std::string_view min_driver_text, min_driver_reason;
  Provenance min_driver_from;
  std::string_view open_kernel;  // none, optional, required
  std::string_view open_kernel_reason;
  Provenance open_kernel_from;
};

// A CUDA version that something needs of the driver.
struct CudaNeed {
  const Toolkit* toolkit = nullptr;
  bool forward_allowed = true;
  Version min_cc;  // of the image; 0: none
  Provenance min_cc_from;
};

struct Question {
  Question(const KnowledgeBase& with, const Input& asked);

  const KnowledgeBase& knowledge;
  const Input& input;
  std::vector<Gpu> gpus;  // each once, by PCI id
  std::optional<Kernel> kernel;
  std::optional<Compiler> compiler;
  std::vector<CudaNeed> cuda;
  std::optional<FrameworkWish> framework;     // asked for, or what the image holds
  std::string pinned_version, pinned_branch;  // at most one

  bool gpu_unknown = false;
  std::vector<std::string> unknown;  // in words
  std::vector<Reason> warnings;      // that hold for every candidate
  bool forward_class = true;         // every GPU may use cuda-compat
};

struct Candidate {
  std::string version;
  Version number;
  std::string branch_text;
  const Branch* branch = nullptr;          // null: a branch that nobody knows
  const DriverVersion* row = nullptr;      // null: a pinned version that is in no list
  const UbuntuPackage* package = nullptr;  // mode host_packages
  std::optional<bool> open;                // the package decides the flavour
};

// What was found at a stage: nothing in `rejections` means that it passed.
struct Findings {
  std::vector<Reason> rejections, warnings;

  bool passed() const { return rejections.empty(); }
  void Reject(std::string code, const Provenance& from, std::string_view detail = {}) {
    rejections.push_back({std::move(code), detail, from});
  }
  void Warn(std::string code, const Provenance& from, std::string_view detail = {}) {
    warnings.push_back({std::move(code), detail, from});
  }
};

struct Verdict {
  Candidate candidate;
  bool open = false;
  bool switched = false;  // the default flavour does not build here, this one does
  Reason switched_for;    // what stops the default flavour
  std::string cuda_mode;
  std::optional<FrameworkChoice> framework;
  std::vector<Reason> warnings;
  std::vector<Reason> rejections;  // of the first stage that failed
  int failed_stage = -1;           // -1: passes

  bool passed() const { return failed_stage < 0; }
};

// The row that a rule of this name stands in, for reasons that no other row gives.
Provenance FromRule(const KnowledgeBase& knowledge, std::string_view id);

}  // namespace pawl::compat
