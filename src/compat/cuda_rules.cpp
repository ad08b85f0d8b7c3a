#include "compat/cuda_rules.h"

#include <algorithm>

namespace pawl::compat {

namespace {

// cuda-compat over this base driver: the current table, and the older statements for branches that
// it no longer shows.
CudaPath ForwardPath(const KnowledgeBase& knowledge, const Toolkit& toolkit, const Version& driver,
                     std::string_view branch) {
  for (const ForwardPackage& row : knowledge.forward) {
    if (row.cuda != toolkit.minor) continue;
    const std::string_view verdict = row.base_driver.Find(branch);
    if (verdict == "compatible") return {CudaWay::kForward, row.from, row.package, false};
    if (!verdict.empty()) return {};
  }
  for (const ForwardHistory& row : knowledge.forward_history) {
    if (row.cuda != toolkit.minor) continue;
    for (size_t i = 0; i < row.base_driver_min.size(); ++i) {
      const std::string_view least = row.base_driver_min[i];
      if (BranchOf(least) != branch || driver < VersionOf(least)) continue;
      CudaPath path{CudaWay::kForward, row.from, {}, false};
      path.from.confidence = std::max(path.from.confidence, Confidence::kReported);
      return path;
    }
  }
  return {};
}

Version UmdOf(const Candidate& candidate) {
  return candidate.branch == nullptr ? Version{} : candidate.branch->cuda_umd;
}

// How all GPUs stand to a toolkit; the worst counts.
Runs RunsOnAll(const Question& question, const Toolkit& toolkit) {
  Runs worst = Runs::kNatively;
  for (const Gpu& gpu : question.gpus) {
    const Runs runs = RunsOn(toolkit, gpu.device->cc);
    if (runs == Runs::kNot) return Runs::kNot;
    if (runs != Runs::kNatively) worst = runs;
  }
  return worst;
}

void CheckGpus(const Question& question, const CudaNeed& need, Findings& findings) {
  for (const Gpu& gpu : question.gpus) {
    const std::string cc(gpu.device->cc_text);
    switch (RunsOn(*need.toolkit, gpu.device->cc)) {
      case Runs::kNot:
        findings.Reject("CUDA_DROPS_GPU:" + cc, need.toolkit->from);
        break;
      case Runs::kByPtxOnly:
        findings.Warn("PTX_ONLY:" + cc, need.toolkit->from);
        break;
      default:
        break;
    }
    if (!cc.empty() && gpu.device->cc < need.min_cc)
      findings.Reject("NO_KERNEL_IMAGE:" + cc, need.min_cc_from);
  }
}

}  // namespace

Runs RunsOn(const Toolkit& toolkit, const Version& cc) {
  if (cc == Version{} || toolkit.cc_native.empty()) return Runs::kUnknown;
  Version newest;
  for (const Version& native : toolkit.cc_native) {
    if (native.major() == cc.major() && native.minor() <= cc.minor()) return Runs::kNatively;
    newest = std::max(newest, native);
  }
  return cc > newest ? Runs::kByPtxOnly : Runs::kNot;
}

std::string_view ToString(CudaWay way) {
  switch (way) {
    case CudaWay::kNative:
      return "native";
    case CudaWay::kMinor:
      return "minor";
    case CudaWay::kForward:
      return "forward";
    case CudaWay::kNone:
      return "";
  }
  return "";
}

CudaPath PathFor(const Question& question, const Toolkit& toolkit, const Version& driver,
                 std::string_view branch, const Version& umd, bool forward, bool ptx) {
  if (driver >= toolkit.min_driver_full) return {CudaWay::kNative, toolkit.from, {}, false};
  bool ptx_blocked = false;
  if (toolkit.number.major() >= 11 && driver >= toolkit.min_driver_minor) {
    ptx_blocked = ptx && umd < toolkit.minor_number;
    if (!ptx_blocked) return {CudaWay::kMinor, toolkit.from, {}, false};
  }
  CudaPath path;
  if (forward && question.forward_class)
    path = ForwardPath(question.knowledge, toolkit, driver, branch);
  if (path.way == CudaWay::kNone) path.ptx_blocked = ptx_blocked;
  return path;
}

Findings CheckCuda(const Question& question, const Candidate& candidate, std::string& mode) {
  Findings findings;
  CudaWay weakest = CudaWay::kNative;
  for (const CudaNeed& need : question.cuda) {
    CheckGpus(question, need, findings);
    const CudaPath path =
        PathFor(question, *need.toolkit, candidate.number, candidate.branch_text, UmdOf(candidate),
                need.forward_allowed, question.input.needs_ptx_jit);
    weakest = std::max(weakest, path.way);
    if (path.way != CudaWay::kNone) continue;
    if (path.ptx_blocked) {
      findings.Reject("CUDA_PTX_TOO_NEW", FromRule(question.knowledge, "ptx_jit"));
    } else {
      findings.Reject("CUDA_TOO_NEW", need.toolkit->from);
    }
  }
  const auto dropped = [](const Reason& reason) {
    return reason.code.starts_with("CUDA_DROPS_GPU");
  };
  if (std::ranges::any_of(findings.rejections, dropped)) {  // hides what no driver could cure
    std::erase_if(findings.rejections,
                  [](const Reason& reason) { return reason.code == "CUDA_TOO_NEW"; });
  }
  if (!question.cuda.empty()) mode = ToString(weakest);
  return findings;
}

CudaMax MaxCuda(const Question& question, const Candidate& candidate) {
  CudaMax max;
  for (const Toolkit& toolkit : question.knowledge.toolkits) {  // newest first
    const Runs runs = RunsOnAll(question, toolkit);
    if (runs == Runs::kNot) continue;
    const bool natively = candidate.number >= toolkit.min_driver_full;
    if (natively && max.native.empty()) max.native = toolkit.minor;
    if (runs != Runs::kNatively && runs != Runs::kUnknown) continue;  // the other ways need SASS
    const bool minor = toolkit.number.major() >= 11 && candidate.number >= toolkit.min_driver_minor;
    if ((natively || minor) && max.minor.empty()) max.minor = toolkit.minor;
    if (!max.forward.empty() || !question.input.forward_compat || !question.forward_class) continue;
    const CudaPath path =
        ForwardPath(question.knowledge, toolkit, candidate.number, candidate.branch_text);
    if (path.way == CudaWay::kForward) max.forward = toolkit.minor;
  }
  return max;
}

const ForwardPackage* CompatPackage(const KnowledgeBase& knowledge, std::string_view minor,
                                    std::string_view branch) {
  const auto found = std::ranges::find_if(knowledge.forward, [&](const ForwardPackage& row) {
    return row.cuda == minor && row.base_driver.Find(branch) == "compatible";
  });
  return found == knowledge.forward.end() ? nullptr : &*found;
}

}  // namespace pawl::compat
