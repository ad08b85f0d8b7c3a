#include "compat/answer.h"

namespace pawl::compat {

namespace {

json::value TextOrNull(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
}

json::array Texts(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

json::object ToObject(const FrameworkChoice& choice) {
  json::object object;
  object["name"] = choice.name;
  object["version"] = TextOrNull(choice.version);
  object["variant"] = TextOrNull(choice.variant);
  object["variants"] = Texts(choice.variants);
  object["install"] = TextOrNull(choice.install);
  return object;
}

json::value ToValue(const std::optional<Recommended>& recommended) {
  if (!recommended) return nullptr;
  json::object object;
  object["version"] = recommended->version;
  object["branch"] = recommended->branch;
  object["flavour"] = recommended->flavour;
  object["cuda_mode"] = TextOrNull(recommended->cuda_mode);
  object["image"] = TextOrNull(recommended->image);
  if (!recommended->package.empty()) object["package"] = recommended->package;
  return object;
}

json::array Why(const std::vector<Fact>& facts) {
  json::array array;
  for (const Fact& fact : facts) {
    json::object object;
    if (!fact.code.empty()) object["code"] = fact.code;
    object["fact"] = fact.text;
    object["source"] = Texts(fact.sources);
    object["confidence"] = ToString(fact.confidence);
    array.push_back(std::move(object));
  }
  return array;
}

void AddHelp(const Answer& answer, Detail detail, json::object& object) {
  if (answer.pinned) {
    object["same_branch_next"] = TextOrNull(answer.same_branch_next);
    json::object branches;
    for (const auto& [branch, version] : answer.fix_branches) branches[branch] = version;
    object["fix_branches"] = std::move(branches);
  }
  object["alternatives"] = Texts(answer.alternatives);
  object["suggest"] =
      answer.suggest == nullptr ? json::value() : json::value(ToJson(*answer.suggest, detail));
}

void AddCandidates(const Answer& answer, json::object& object) {
  json::array candidates;
  for (const CandidateLine& line : answer.candidates) {
    json::object candidate;
    candidate["version"] = line.version;
    candidate["branch"] = line.branch;
    candidate["flavour"] = line.flavour;
    candidate["cuda_mode"] = TextOrNull(line.cuda_mode);
    candidate["warnings"] = Texts(line.warnings);
    candidates.push_back(std::move(candidate));
  }
  object["candidates"] = std::move(candidates);
  json::array rejected;
  for (const RejectedLine& line : answer.rejected) {
    json::object rejection;
    rejection["version"] = line.version;
    rejection["branch"] = line.branch;
    rejection["codes"] = Texts(line.codes);
    rejected.push_back(std::move(rejection));
  }
  object["rejected"] = std::move(rejected);
}

}  // namespace

std::string_view ToString(AnswerStatus status) {
  switch (status) {
    case AnswerStatus::kOk:
      return "ok";
    case AnswerStatus::kImpossible:
      return "impossible";
    case AnswerStatus::kUnsupported:
      return "unsupported";
    case AnswerStatus::kUnknownGpu:
      return "unknown_gpu";
  }
  return "impossible";
}

json::object ToJson(const Answer& answer, Detail detail) {
  json::object object;
  object["status"] = ToString(answer.status);
  object["recommended"] = ToValue(answer.recommended);
  object["lowest"] = TextOrNull(answer.lowest);
  json::array allowed;
  for (const AllowedBranch& branch : answer.allowed) {
    json::object entry;
    entry["branch"] = branch.branch;
    entry["eol"] = branch.end_of_life;
    allowed.push_back(std::move(entry));
  }
  object["allowed"] = std::move(allowed);
  object["warnings"] = Texts(answer.warnings);
  object["advice"] = Texts(answer.advice);
  object["conflicts"] = Texts(answer.conflicts);
  object["why"] = Why(answer.why);
  object["confidence"] = ToString(answer.confidence);
  object["unknown"] = Texts(answer.unknown);
  json::object cuda;
  cuda["native"] = TextOrNull(answer.cuda_max.native);
  cuda["minor"] = TextOrNull(answer.cuda_max.minor);
  cuda["forward"] = TextOrNull(answer.cuda_max.forward);
  object["cuda_max"] = std::move(cuda);
  object["framework"] = answer.framework ? json::value(ToObject(*answer.framework)) : json::value();
  json::array frameworks;
  for (const FrameworkChoice& choice : answer.frameworks) frameworks.push_back(ToObject(choice));
  object["frameworks"] = std::move(frameworks);
  if (answer.status != AnswerStatus::kOk) AddHelp(answer, detail, object);
  if (detail == Detail::kExplain) AddCandidates(answer, object);
  return object;
}

}  // namespace pawl::compat
