// Real-world questions with expected answers: compat/testdata/cases.yaml.
#include <gmock/gmock.h>

#include "base/files.h"
#include "base/yaml.h"
#include "compat/testing.h"

namespace pawl::compat {

namespace {

struct Case {
  std::string id;
  json::value input, expect;
};

void PrintTo(const Case& question, std::ostream* out) { *out << question.id; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  Result<std::string> text = ReadFile("src/compat/testdata/cases.yaml");
  Result<json::value> file = text ? ParseYaml(*text) : Fail(text.error());
  if (!file) {
    cases.push_back({file.error().message(), nullptr, nullptr});
    return cases;
  }
  for (const json::value& row : Find(*file, "cases")->get_array()) {
    cases.push_back({TextAt(row, {"id"}), *Find(row, "input"), *Find(row, "expect")});
  }
  return cases;
}

std::vector<std::string> TextsOf(const json::value& value) {
  std::vector<std::string> texts;
  if (value.is_string()) texts.emplace_back(value.get_string());
  if (value.is_array()) {
    for (const json::value& item : value.get_array()) texts.emplace_back(item.get_string());
  }
  return texts;
}

class RealWorld : public testing::TestWithParam<Case> {};

void CheckExcluded(const json::value& expected, const Answer& answer) {
  std::vector<std::string> allowed;
  for (const AllowedBranch& branch : answer.allowed) allowed.push_back(branch.branch);
  for (const std::string& branch : TextsOf(expected)) {
    EXPECT_THAT(allowed, testing::Not(testing::Contains(branch)));
  }
}

void CheckKey(std::string_view key, const json::value& expected, const Answer& answer) {
  const std::string text = expected.is_string() ? std::string(expected.get_string()) : "";
  if (key == "status") {
    EXPECT_EQ(ToString(answer.status), text);
  } else if (key == "conflicts" || key == "warnings" || key == "advice") {
    const auto& codes = key == "conflicts"  ? answer.conflicts
                        : key == "warnings" ? answer.warnings
                                            : answer.advice;
    for (const std::string& code : TextsOf(expected))
      EXPECT_THAT(codes, testing::Contains(testing::StartsWith(code)));
  } else if (key == "suggest_branch" || key == "suggest_flavour" || key == "image_tag_pattern") {
    ASSERT_NE(answer.suggest, nullptr);
    ASSERT_TRUE(answer.suggest->recommended);
    const Recommended& recommended = *answer.suggest->recommended;
    EXPECT_EQ(key == "suggest_branch"    ? recommended.branch
              : key == "suggest_flavour" ? recommended.flavour
                                         : recommended.image,
              text);
  } else if (key == "recommended_branch" || key == "flavour" || key == "cuda_mode") {
    ASSERT_TRUE(answer.recommended);
    EXPECT_EQ(key == "flavour"     ? answer.recommended->flavour
              : key == "cuda_mode" ? answer.recommended->cuda_mode
                                   : answer.recommended->branch,
              text);
  } else if (key == "same_branch_next") {
    EXPECT_EQ(answer.same_branch_next, text);
  } else if (key == "alternatives") {
    EXPECT_EQ(answer.alternatives, TextsOf(expected));
  } else if (key == "fix_branches") {
    for (const auto& item : expected.get_object()) {
      EXPECT_THAT(answer.fix_branches,
                  testing::Contains(testing::Pair(std::string(item.key()),
                                                  std::string(item.value().get_string()))));
    }
  } else if (key == "allowed_excludes") {
    CheckExcluded(expected, answer);
  } else {
    ADD_FAILURE() << "no check for " << key;
  }
}

TEST_P(RealWorld, GetsTheExpectedAnswer) {
  ASSERT_TRUE(GetParam().input.is_object()) << GetParam().id;
  Result<Input> input = ParseInput(GetParam().input);
  ASSERT_TRUE(input) << input.error().message();
  input->today = "2026-12-01";
  const Answer answer = Resolve(BuiltInForTests(), *input);
  SCOPED_TRACE(ToPrettyJson(ToJson(answer, Detail::kShort)));
  for (const auto& [key, expected] : GetParam().expect.get_object())
    CheckKey(key, expected, answer);
}

std::string NameOf(const testing::TestParamInfo<Case>& test) {
  std::string name = test.param.id;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, RealWorld, testing::ValuesIn(Cases()), NameOf);

}  // namespace

}  // namespace pawl::compat
