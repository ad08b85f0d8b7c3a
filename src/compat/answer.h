// The answer (spec/compat.md §5), as values and as the JSON object that other programs read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "compat/knowledge.h"

namespace pawl::compat {

enum class AnswerStatus { kOk, kImpossible, kUnsupported, kUnknownGpu };
std::string_view ToString(AnswerStatus status);  // ok, impossible, unsupported, unknown_gpu

struct Recommended {
  std::string version, branch, flavour;
  std::string cuda_mode;  // native, minor, forward; empty where no CUDA was asked for
  std::string image;    // its tag; empty where the operating system is unknown or no image is used
  std::string package;  // mode host_packages: what to install
};

struct AllowedBranch {
  std::string branch;
  bool end_of_life = false;
};

// One fact that the answer rests on, with where it is from.
struct Fact {
  std::string code;  // the code it explains; empty for what simply holds
  std::string text;
  std::vector<std::string> sources;  // never empty
  Confidence confidence = Confidence::kInferred;
};

struct CudaMax {  // "13.2"; empty: none
  std::string native, minor, forward;
};

struct FrameworkChoice {
  std::string name, version;  // the version is empty where the data does not follow releases
  std::string variant;        // "12.4", "cuda13"
  std::vector<std::string> variants;  // all of that release that run
  std::string install;                // the command
};

struct CandidateLine {
  std::string version, branch, flavour, cuda_mode;
  std::vector<std::string> warnings;
};

struct RejectedLine {
  std::string version, branch;
  std::vector<std::string> codes;
};

struct Answer {
  AnswerStatus status = AnswerStatus::kImpossible;
  std::optional<Recommended> recommended;
  std::string lowest;  // lowest passing version of the recommended branch
  std::vector<AllowedBranch> allowed;
  std::vector<std::string> warnings, advice, conflicts;  // codes, §4 and §5.1
  std::vector<Fact> why;
  Confidence confidence = Confidence::kDocumented;  // the weakest row used
  std::vector<std::string> unknown;                 // what the data does not know, in words

  CudaMax cuda_max;                          // of the recommended driver on these GPUs
  std::optional<FrameworkChoice> framework;  // the one asked for
  std::vector<FrameworkChoice> frameworks;   // what runs on the recommended driver

  // Help where a pin or a wish fails.
  bool pinned = false;
  std::string same_branch_next;                     // empty: none
  std::map<std::string, std::string> fix_branches;  // other branch → its first passing version
  std::vector<std::string> alternatives;            // CUDA variants of the same release that pass
  std::shared_ptr<const Answer> suggest;  // without the pin, then without the flavour wish

  std::vector<CandidateLine> candidates;  // passing, best first
  std::vector<RejectedLine> rejected;     // newest first
};

enum class Detail { kShort, kExplain };  // kExplain adds candidates and rejected

json::object ToJson(const Answer& answer, Detail detail);

}  // namespace pawl::compat
