#include "compat/report.h"

#include <algorithm>

#include "base/text.h"
#include "compat/advice.h"
#include "compat/gpu_names.h"
#include "compat/resolve.h"

namespace pawl::compat {

namespace {

constexpr size_t kLabel = 13;  // width of the first column

void Line(std::string& out, std::string_view label, std::string_view text) {
  std::string padded(label);
  padded.resize(std::max(kLabel, label.size() + 1), ' ');
  out += padded + std::string(text) + "\n";
}

std::string Or(const std::string& text, std::string_view otherwise) {
  return text.empty() ? std::string(otherwise) : text;
}

// "2 × Tesla T4 (1EB8), …"
std::string GpuNames(const KnowledgeBase& knowledge, const std::vector<std::string>& gpus) {
  std::vector<std::string> names, seen;
  for (const std::string& gpu : gpus) {
    if (std::ranges::find(seen, gpu) != seen.end()) continue;
    seen.push_back(gpu);
    const GpuMatch match = FindGpu(knowledge, gpu);
    std::string name = match.device == nullptr ? gpu + " (not known)"
                                               : std::string(match.device->name) + " (" +
                                                     std::string(match.device->pci_id) + ")";
    const auto count = std::ranges::count(gpus, gpu);
    names.push_back(count > 1 ? std::to_string(count) + " × " + name : name);
  }
  return Join(names, ", ");
}

std::string Sentence(const Answer& answer, const std::string& code) {
  const auto fact = std::ranges::find(answer.why, code, &Fact::code);
  return fact == answer.why.end() ? code : fact->text + "  [" + code + "]";
}

std::string Described(const Recommended& recommended) {
  std::string text = recommended.version + ", " + recommended.flavour + " modules";
  if (!recommended.cuda_mode.empty()) text += ", CUDA " + recommended.cuda_mode;
  if (!recommended.image.empty()) text += ", image tag " + recommended.image;
  if (!recommended.package.empty()) text += ", package " + recommended.package;
  return text;
}

void RenderCommands(const Input& input, const Recommended& recommended, std::string& out) {
  for (const std::string& command : Commands(input, recommended)) Line(out, "  run", command);
}

void RenderCuda(const Answer& answer, std::string& out) {
  const CudaMax& max = answer.cuda_max;
  if (max.native.empty()) return;
  std::string text = "up to " + max.native;
  if (!max.minor.empty() && max.minor != max.native)
    text += ", " + max.minor + " by minor-version compatibility";
  if (!max.forward.empty() && VersionOf(max.forward) > VersionOf(max.native))
    text += ", " + max.forward + " with cuda-compat";
  Line(out, "CUDA", text);
}

void RenderConflict(const Input& input, const Answer& answer, std::string& out) {
  for (const std::string& code : answer.conflicts) Line(out, "conflict", Sentence(answer, code));
  if (!answer.same_branch_next.empty())
    Line(out, "same branch", answer.same_branch_next + " works");
  if (!answer.alternatives.empty())
    Line(out, "instead", "the build for CUDA " + Join(answer.alternatives, " or "));
  if (answer.suggest == nullptr || !answer.suggest->recommended) return;
  const Answer& suggest = *answer.suggest;
  Line(out, "fix", Described(*suggest.recommended));
  for (const std::string& warning : suggest.warnings)
    Line(out, "  note", Sentence(suggest, warning));
  RenderCuda(suggest, out);
  RenderCommands(input, *suggest.recommended, out);
}

void RenderFrameworks(const Answer& answer, std::string& out) {
  const std::vector<FrameworkChoice> asked =
      answer.framework ? std::vector{*answer.framework} : answer.frameworks;
  for (const FrameworkChoice& choice : asked) {
    std::string text = Or(choice.version, "any release");
    if (!choice.variant.empty()) text += " (" + choice.variant + ")";
    text += "   " + choice.install;
    Line(out, "  " + choice.name, text);
  }
}

void RenderBody(const Input& input, const Answer& answer, std::string& out) {
  if (answer.recommended) {
    Line(out, input.driver.find('.') == std::string::npos ? "use" : "fits",
         Described(*answer.recommended));
    std::vector<std::string> branches;
    for (const AllowedBranch& branch : answer.allowed)
      branches.push_back(branch.branch + (branch.end_of_life ? "*" : ""));
    if (branches.size() > 1) Line(out, "also", Join(branches, " ") + "   (* past its end of life)");
    RenderCuda(answer, out);
    RenderFrameworks(answer, out);
    if (input.driver.empty()) RenderCommands(input, *answer.recommended, out);
  } else {
    RenderConflict(input, answer, out);
  }
  if (answer.recommended || answer.suggest == nullptr) {
    for (const std::string& warning : answer.warnings) Line(out, "note", Sentence(answer, warning));
  }
  for (const std::string& advice : answer.advice) Line(out, "advice", AdviceSentence(advice));
  for (const std::string& unknown : answer.unknown) Line(out, "unknown", unknown);
}

void RenderWhy(const Answer& answer, std::string& out) {
  out += "\nwhy (" + std::string(ToString(answer.confidence)) + " at the weakest)\n";
  for (const Fact& fact : answer.why) {
    out += "  " + fact.text + (fact.code.empty() ? "" : "  [" + fact.code + "]") + "\n";
    out +=
        "      " + std::string(ToString(fact.confidence)) + ": " + Join(fact.sources, "; ") + "\n";
  }
}

std::string Asked(const KnowledgeBase& knowledge, const Input& input) {
  std::vector<std::string> parts;
  if (!input.gpus.empty()) parts.push_back(GpuNames(knowledge, input.gpus));
  if (!input.os_id.empty()) parts.push_back(input.os_id + " " + input.os_version);
  if (!input.kernel.empty()) parts.push_back("kernel " + input.kernel);
  if (!input.driver.empty()) parts.push_back("driver " + input.driver);
  if (!input.cuda.empty()) parts.push_back("CUDA " + input.cuda);
  if (input.framework) parts.push_back(input.framework->name + " " + input.framework->version);
  if (!input.image.empty()) parts.push_back("image " + input.image);
  return Join(parts, ", ");
}

void RenderCudaOfMachine(const KnowledgeBase& knowledge, const Machine& machine, std::string& out) {
  const Branch* branch = knowledge.FindBranch(BranchOf(machine.driver));
  const std::string supported = branch == nullptr ? "" : std::string(branch->cuda_umd_text);
  const std::string installed = Join(machine.cuda_toolkits, ", ");
  if (supported.empty() && installed.empty()) return;
  std::string text = supported.empty()
                         ? "no driver loaded"
                         : "the driver supports up to " + supported + " (what nvidia-smi prints)";
  text += installed.empty() ? "; no toolkit in /usr/local" : "; installed toolkit: " + installed;
  Line(out, "CUDA", text);
  if (!supported.empty() && !machine.cuda_toolkits.empty() &&
      VersionOf(machine.cuda_toolkits.back()) != VersionOf(supported)) {
    Line(out, "", "nvidia-smi's number is not the toolkit's: the two may differ");
  }
}

void RenderNext(const Machine& machine, const Input& input, const std::vector<NextKernel>& next,
                std::string& out) {
  for (const NextKernel& kernel : next) {
    const std::string where = "kernel " + kernel.kernel + ", installed but not booted";
    if (kernel.answer.status == AnswerStatus::kOk) {
      const std::vector<std::string>& warnings = kernel.answer.warnings;
      Line(out, "right",
           where + ": " +
               (machine.driver.empty() ? "has a driver"
                                       : "driver " + machine.driver + " fits it too"));
      for (const std::string& warning : warnings) {
        if (warning.starts_with("KERNEL") || warning.starts_with("BREAKAGE"))
          Line(out, "note", Sentence(kernel.answer, warning));
      }
      continue;
    }
    Line(out, "WRONG", where + ": after a reboot the driver is gone");
    RenderConflict(input, kernel.answer, out);
    Line(out, "  or", "stay on " + machine.kernel + " until the driver is changed");
  }
}

}  // namespace

int ExitCode(const Answer& answer, const std::vector<NextKernel>& next) {
  const auto conflict = [](const Answer& one) {
    return one.status == AnswerStatus::kImpossible || one.status == AnswerStatus::kUnsupported;
  };
  if (conflict(answer) ||
      std::ranges::any_of(next, [&](const NextKernel& kernel) { return conflict(kernel.answer); }))
    return 1;
  return answer.status == AnswerStatus::kUnknownGpu ? 2 : 0;
}

std::string RenderAnswer(const KnowledgeBase& knowledge, const Input& input, const Answer& answer,
                         Detail detail) {
  std::string out;
  if (const std::string question = Asked(knowledge, input); !question.empty())
    Line(out, "for", question);
  Line(out, "answer", ToString(answer.status));
  RenderBody(input, answer, out);
  if (detail == Detail::kExplain) RenderWhy(answer, out);
  return out;
}

std::string RenderMachine(const KnowledgeBase& knowledge, const Machine& machine,
                          const Input& input, const Answer& answer,
                          const std::vector<NextKernel>& next, Detail detail) {
  std::string out;
  Line(out, "GPU",
       machine.gpus.empty() ? "no NVIDIA GPU found" : GpuNames(knowledge, machine.gpus));
  Line(out, "system",
       Or(machine.os_name, machine.os_id) + ", kernel " + Or(machine.kernel, "not known") +
           (machine.kernel_compiler.empty() ? "" : " built with " + machine.kernel_compiler) +
           ", Secure Boot " + (machine.secure_boot ? "on" : "off"));
  Line(out, "driver",
       machine.driver.empty()
           ? "none loaded"
           : machine.driver + " (" + machine.driver_flavour + " modules) loaded");
  RenderCudaOfMachine(knowledge, machine, out);
  out += "\n";
  const bool asked =
      !input.driver.empty() || !input.cuda.empty() || input.framework || !input.image.empty();
  if (!machine.gpus.empty() || asked) {
    if (!machine.driver.empty() && answer.status == AnswerStatus::kOk)
      Line(out, "right", "the loaded driver suits these GPUs and this kernel");
    if (answer.status == AnswerStatus::kImpossible)
      Line(out, "WRONG",
           machine.driver.empty() ? "no driver fits"
                                  : "the loaded driver does not suit this machine");
    RenderBody(input, answer, out);
  }
  RenderNext(machine, input, next, out);
  if (detail == Detail::kExplain) RenderWhy(answer, out);
  return out;
}

std::vector<MatrixRow> Matrix(const KnowledgeBase& knowledge, const Input& input) {
  std::vector<MatrixRow> rows;
  for (auto branch = knowledge.branches.rbegin(); branch != knowledge.branches.rend(); ++branch) {
    Input asked = input;
    asked.driver = branch->branch;
    const Answer answer = Resolve(knowledge, asked);
    MatrixRow row;
    row.branch = branch->branch;
    row.type = branch->type;
    row.end_of_life =
        branch->eol.empty() ? std::string(branch->eol_status) : std::string(branch->eol);
    row.past = branch->EndOfLife(input.today);
    if (answer.recommended) {
      row.version = answer.recommended->version;
      row.flavour = answer.recommended->flavour;
      row.cuda = answer.cuda_max;
      for (const FrameworkChoice& choice : answer.frameworks) {
        if (choice.name == "pytorch")
          row.pytorch = choice.version + " cu" + ReplaceAll(choice.variant, ".", "");
      }
    } else {
      row.reason = Join(answer.conflicts, " ");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string RenderMatrix(const std::vector<MatrixRow>& rows) {
  const std::vector<std::string> titles = {"BRANCH",           "TYPE",    "END OF LIFE",
                                           "NEWEST THAT FITS", "MODULES", "CUDA",
                                           "BY MINOR",         "FORWARD", "PYTORCH"};
  std::vector<std::vector<std::string>> table = {titles};
  for (const MatrixRow& row : rows) {
    table.push_back({row.branch, row.type, row.end_of_life + (row.past ? " past" : ""),
                     row.version.empty() ? "- " + row.reason : row.version, row.flavour,
                     row.cuda.native, row.cuda.minor, row.cuda.forward, row.pytorch});
  }
  std::vector<size_t> widths(titles.size(), 0);
  for (const auto& line : table) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (i != 3 || !line[i].starts_with("- ")) widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string out;
  for (const auto& line : table) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      std::string cell = line[i];
      cell.resize(std::max(widths[i], cell.size()), ' ');
      text += cell + "  ";
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  }
  return out;
}

json::array ToJson(const std::vector<MatrixRow>& rows) {
  json::array array;
  const auto text = [](const std::string& value) {
    return value.empty() ? json::value() : json::value(value);
  };
  for (const MatrixRow& row : rows) {
    json::object object;
    object["branch"] = row.branch;
    object["type"] = row.type;
    object["end_of_life"] = text(row.end_of_life);
    object["eol"] = row.past;
    object["version"] = text(row.version);
    object["flavour"] = text(row.flavour);
    object["cuda_max"] = json::object{{"native", text(row.cuda.native)},
                                      {"minor", text(row.cuda.minor)},
                                      {"forward", text(row.cuda.forward)}};
    object["pytorch"] = text(row.pytorch);
    object["conflicts"] = text(row.reason);
    array.push_back(std::move(object));
  }
  return array;
}

std::vector<std::string> Commands(const Input& input, const Recommended& recommended) {
  if (input.mode != "host_packages") {
    const std::string version =
        input.mode == "precompiled" ? recommended.branch : recommended.version;
    return {
        R"(kubectl patch clusterpolicy cluster-policy --type merge -p '{"spec":{"driver":{"version":")" +
        version + R"(","kernelModuleType":")" + recommended.flavour + R"("}}}')"};
  }
  if (!recommended.package.empty()) {
    std::vector<std::string> commands = {"sudo apt-get update && sudo apt-get install " +
                                         recommended.package};
    const auto kernel = ParseKernel(input.kernel, input.kernel_build, input.os_id);
    if (kernel && !kernel->flavour.empty()) {
      commands.front() += " linux-modules-nvidia-" +
                          recommended.package.substr(std::string_view("nvidia-driver-").size()) +
                          "-" + kernel->flavour;
    }
    return commands;
  }
  const std::string file = "NVIDIA-Linux-" + input.platform + "-" + recommended.version + ".run";
  return {"curl -fLO https://us.download.nvidia.com/tesla/" + recommended.version + "/" + file,
          "sudo sh " + file + " --kernel-module-type=" + recommended.flavour};
}

}  // namespace pawl::compat
