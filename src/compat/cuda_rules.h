// CUDA against drivers and GPUs (spec/compat.md §6).
#pragma once

#include "compat/question.h"

namespace pawl::compat {

enum class Runs { kNatively, kByPtxOnly, kNot, kUnknown };

// SASS for X.y runs on X.z with z >= y, never across majors; a GPU newer than all the toolkit can
// target has PTX only. kUnknown where the GPU's compute capability is.
Runs RunsOn(const Toolkit& toolkit, const Version& cc);

enum class CudaWay { kNative, kMinor, kForward, kNone };
std::string_view ToString(CudaWay way);  // native, minor, forward, and empty

struct CudaPath {
  CudaWay way = CudaWay::kNone;
  Provenance from;
  std::string_view package;  // of kForward, where the current table names it
  bool ptx_blocked = false;  // kMinor would do, but for code that needs PTX
};

// How a driver runs code of this toolkit. `forward` says whether cuda-compat may be used at all;
// `ptx`, whether code needs PTX compiled at run time.
CudaPath PathFor(const Question& question, const Toolkit& toolkit, const Version& driver,
                 std::string_view branch, const Version& umd, bool forward, bool ptx);

// Stage 4 for one candidate. `mode` receives the weakest way among the needs.
Findings CheckCuda(const Question& question, const Candidate& candidate, std::string& mode);

// The newest CUDA that this driver runs on all of these GPUs, by each way.
CudaMax MaxCuda(const Question& question, const Candidate& candidate);

// cuda-compat of this CUDA for this base branch: the row that says "compatible", or nullptr.
const ForwardPackage* CompatPackage(const KnowledgeBase& knowledge, std::string_view minor,
                                    std::string_view branch);

}  // namespace pawl::compat
