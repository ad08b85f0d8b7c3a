#include "agent/decide/chain.h"

#include <algorithm>

namespace pawl::agent {
namespace {

constexpr size_t kLongestMessage = 32768;  // of a condition (Kubernetes API conventions)

// The word in front of a problem: "NvmlHung" of "NvmlHung: nvmlInit_v2 did not answer".
std::string_view Word(std::string_view problem) {
  const std::string_view word = problem.substr(0, problem.find(':'));
  return word.find(' ') == std::string_view::npos && word.size() < problem.size()
             ? word
             : std::string_view();
}

// "GPU-… (0000:3b:00.0): NvmlHung: …", one for each GPU that cannot be used.
std::vector<std::string> Problems(const gpu::Snapshot& snapshot) {
  std::vector<std::string> problems;
  for (const gpu::Gpu& gpu : snapshot.gpus) {
    if (!gpu.usable())
      problems.push_back(gpu.uuid + " (" + gpu.pci.ToSysfs() + "): " + gpu.problem);
  }
  for (const gpu::SilentGpu& gpu : snapshot.silent) {
    problems.push_back("GPU " + std::to_string(gpu.index) + " (never answered): " + gpu.problem);
  }
  return problems;
}

// The word that all problems share, if they do.
std::string SharedReason(const gpu::Snapshot& snapshot) {
  constexpr std::string_view kMixed = "NoUsableGPU";
  std::vector<std::string_view> words;
  for (const gpu::Gpu& gpu : snapshot.gpus) words.push_back(Word(gpu.problem));
  for (const gpu::SilentGpu& gpu : snapshot.silent) words.push_back(Word(gpu.problem));
  const bool same = !words.empty() && !words.front().empty() &&
                    std::all_of(words.begin(), words.end(),
                                [&words](std::string_view word) { return word == words.front(); });
  return std::string(same ? words.front() : kMixed);
}

std::string Joined(std::string message, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    message += "; ";
    message += problem;
  }
  if (message.size() > kLongestMessage) message.resize(kLongestMessage);
  return message;
}

std::string Sentence(const StageStatus& stage) {
  std::string text = stage.stage;
  text += stage.state == StageState::kFailed ? " failed" : " waiting";
  for (const std::string& part : {stage.reason, stage.evidence}) {
    if (!part.empty()) text += ": " + part;
  }
  return text;
}

}  // namespace

std::string_view ToString(StageState state) {
  switch (state) {
    case StageState::kWaiting:
      return "Waiting";
    case StageState::kReady:
      return "Ready";
    case StageState::kFailed:
      return "Failed";
  }
  return "";
}

const StageStatus* Chain::FirstUnready() const {
  const auto found = std::find_if(stages.begin(), stages.end(), [](const StageStatus& stage) {
    return stage.state != StageState::kReady;
  });
  return found == stages.end() ? nullptr : &*found;
}

StageStatus& Chain::At(std::string_view stage) {
  const auto found = std::find_if(stages.begin(), stages.end(), [stage](const StageStatus& status) {
    return status.stage == stage;
  });
  if (found != stages.end()) return *found;
  StageStatus& made = stages.emplace_back();
  made.stage = stage;
  return made;
}

NodeCondition GpuReady(const Chain& chain, const gpu::Snapshot& snapshot, bool booting) {
  const std::vector<std::string> problems = Problems(snapshot);
  const size_t all = snapshot.gpus.size() + snapshot.silent.size();
  const size_t usable = all - problems.size();
  const StageStatus* unready = chain.FirstUnready();
  // What failed is known, also while booting; what waits may only need its time.
  if (unready != nullptr && booting && unready->state == StageState::kWaiting) {
    return {.status = "Unknown", .reason = "Booting", .message = Sentence(*unready)};
  }
  if (unready != nullptr) {
    return {.status = "False",
            .reason = unready->reason.empty() ? "StageNotReady" : unready->reason,
            .message = Joined(Sentence(*unready), problems)};
  }
  const std::string count =
      std::to_string(usable) + " of " + std::to_string(all) + " GPUs can be used";
  if (usable == 0) {
    return {
        .status = "False", .reason = SharedReason(snapshot), .message = Joined(count, problems)};
  }
  return {.status = "True",
          .reason = problems.empty() ? "AllHealthy" : "Degraded",
          .message = Joined(count, problems)};
}

std::string ChainTable(const Chain& chain, const gpu::Snapshot& snapshot) {
  const std::vector<std::string> header = {"STAGE", "STATE", "REASON", "EVIDENCE"};
  std::vector<std::vector<std::string>> rows = {header};
  for (const StageStatus& stage : chain.stages) {
    rows.push_back({stage.stage, std::string(ToString(stage.state)),
                    stage.reason.empty() ? "-" : stage.reason, stage.evidence});
  }
  std::vector<size_t> widths(header.size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string table;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    table += line + "\n";
  }
  for (const std::string& problem : Problems(snapshot)) table += "! " + problem + "\n";
  return table;
}

json::value ToJsonValue(const Chain& chain) {
  json::array stages;
  for (const StageStatus& stage : chain.stages) {
    stages.push_back({{"stage", stage.stage},
                      {"state", ToString(stage.state)},
                      {"reason", stage.reason},
                      {"evidence", stage.evidence}});
  }
  return stages;
}

Result<Chain> ChainFromJson(const json::value& value) {
  const json::array* stages = value.if_array();
  if (stages == nullptr) return Fail(ErrorKind::kInvalid, "chain: expected a list of stages");
  Chain chain;
  for (const json::value& item : *stages) {
    const std::string place = "chain[" + std::to_string(chain.stages.size()) + "]";
    StageStatus stage;
    stage.stage = TextAt(item, {"stage"});
    stage.reason = TextAt(item, {"reason"});
    stage.evidence = TextAt(item, {"evidence"});
    const std::string state = TextAt(item, {"state"});
    if (stage.stage.empty()) return Fail(ErrorKind::kInvalid, place + ".stage: expected a name");
    bool known = false;
    for (const StageState one : {StageState::kWaiting, StageState::kReady, StageState::kFailed}) {
      if (ToString(one) != state) continue;
      stage.state = one;
      known = true;
    }
    if (!known) {
      return Fail(ErrorKind::kInvalid, place + ".state: expected Waiting, Ready or Failed");
    }
    chain.stages.push_back(std::move(stage));
  }
  return chain;
}

}  // namespace pawl::agent
