// What holds for every question, tried on random ones.
#include <gmock/gmock.h>

#include <random>

#include "compat/testing.h"

namespace pawl::compat {

namespace {

constexpr int kRounds = 300;

class RandomQuestions {
 public:
  explicit RandomQuestions(unsigned seed) : random_(seed) {}

  bool Chance(int percent) {
    return std::uniform_int_distribution<int>(1, 100)(random_) <= percent;
  }
  template <typename List>
  const auto& OneOf(const List& list) {
    return list[std::uniform_int_distribution<size_t>(0, list.size() - 1)(random_)];
  }

  std::string Gpu() { return std::string(OneOf(knowledge_.devices).pci_id); }
  std::string Driver() { return std::string(OneOf(knowledge_.versions).version); }
  std::string Cuda() { return std::string(OneOf(knowledge_.toolkits).minor); }
  FrameworkWish Framework() {
    if (Chance(70)) return {"pytorch", std::string(OneOf(knowledge_.pytorch).version), "", ""};
    static const std::vector<std::string> kNames = {"tensorflow", "jax", "onnxruntime", "vllm",
                                                    "ollama"};
    return {OneOf(kNames), "", "", ""};
  }

  Input Question() {
    static const std::vector<std::string> kKernels = {"5.15.0-105-generic",
                                                      "5.15.0-113-generic",
                                                      "6.8.0-60-generic",
                                                      "6.1.76",
                                                      "6.10.0",
                                                      "6.18.0",
                                                      "7.0.3",
                                                      "7.2.0",
                                                      "4.18.0",
                                                      "6.8.0-1032-aws"};
    static const std::vector<std::string> kPolicies = {"production", "ltsb", "pb", "latest"};
    Input input;
    input.today = "2026-12-01";
    if (Chance(85)) input.gpus.push_back(Gpu());
    if (Chance(25)) input.gpus.push_back(Gpu());
    if (Chance(50)) input.kernel = OneOf(kKernels);
    if (Chance(40)) {
      input.os_id = "ubuntu";
      input.os_version = Chance(50) ? "22.04" : "24.04";
    }
    if (Chance(40)) input.cuda = Cuda();
    if (Chance(30)) input.framework = Framework();
    if (Chance(20)) input.module_flavour = Chance(50) ? "open" : "proprietary";
    if (Chance(20)) input.mode = "precompiled";
    if (Chance(30)) input.forward_compat = false;
    input.policy = OneOf(kPolicies);
    return input;
  }

  // The same question with one more demand.
  Input Harder(Input input) {
    switch (std::uniform_int_distribution<int>(0, 6)(random_)) {
      case 0:
        input.gpus.push_back(Gpu());
        break;
      case 1:
        input.forward_compat = false;
        break;
      case 2:
        if (input.module_flavour == "auto")
          input.module_flavour = Chance(50) ? "open" : "proprietary";
        break;
      case 3:
        if (input.driver.empty()) input.driver = Driver();
        break;
      case 4:
        if (input.cuda.empty()) input.cuda = Cuda();
        break;
      case 5:
        if (!input.framework) input.framework = Framework();
        break;
      default:
        input.secure_boot = true;
        break;
    }
    return input;
  }

  std::mt19937& random() { return random_; }

 private:
  const KnowledgeBase& knowledge_ = BuiltInForTests();
  std::mt19937 random_;
};

std::string Shown(const Answer& answer) { return ToPrettyJson(ToJson(answer, Detail::kShort)); }

TEST(Properties, AConstraintNeverTurnsImpossibleIntoOk) {
  RandomQuestions questions(1);
  for (int round = 0; round < kRounds; ++round) {
    const Input input = questions.Question();
    const Answer answer = Resolve(BuiltInForTests(), input);
    if (answer.status != AnswerStatus::kImpossible) continue;
    const Answer harder = Resolve(BuiltInForTests(), questions.Harder(input));
    EXPECT_NE(harder.status, AnswerStatus::kOk) << Shown(answer) << Shown(harder);
  }
}

TEST(Properties, TheRecommendedVersionPassesAsAPin) {
  RandomQuestions questions(2);
  for (int round = 0; round < kRounds; ++round) {
    Input input = questions.Question();
    const Answer answer = Resolve(BuiltInForTests(), input);
    if (!answer.recommended) continue;
    input.driver = answer.recommended->version;
    const Answer pinned = Resolve(BuiltInForTests(), input);
    ASSERT_EQ(pinned.status, AnswerStatus::kOk) << Shown(answer) << Shown(pinned);
    EXPECT_EQ(pinned.recommended->version, answer.recommended->version);
    EXPECT_EQ(pinned.recommended->flavour, answer.recommended->flavour);
  }
}

TEST(Properties, TheOrderOfGpusDoesNotMatter) {
  RandomQuestions questions(3);
  for (int round = 0; round < kRounds; ++round) {
    Input input = questions.Question();
    input.gpus = {questions.Gpu(), questions.Gpu(), questions.Gpu(), "FFFF"};
    if (questions.Chance(70)) input.gpus.pop_back();
    const Answer answer = Resolve(BuiltInForTests(), input);
    std::ranges::shuffle(input.gpus, questions.random());
    const Answer again = Resolve(BuiltInForTests(), input);
    EXPECT_EQ(Shown(answer), Shown(again));
  }
}

TEST(Properties, EveryReasonHasASource) {
  RandomQuestions questions(4);
  for (int round = 0; round < kRounds; ++round) {
    Input input = questions.Question();
    if (questions.Chance(50)) input.driver = questions.Driver();
    const Answer answer = Resolve(BuiltInForTests(), input);
    EXPECT_FALSE(answer.why.empty());
    std::vector<std::string> explained;
    for (const Fact& fact : answer.why) {
      explained.push_back(fact.code);
      EXPECT_FALSE(fact.sources.empty()) << fact.text;
      EXPECT_FALSE(fact.text.empty());
    }
    for (const std::string& code : answer.conflicts)
      EXPECT_THAT(explained, testing::Contains(code));
    if (answer.recommended) {
      for (const std::string& code : answer.warnings)
        EXPECT_THAT(explained, testing::Contains(code));
    }
  }
}

TEST(Properties, AnImpossibleAnswerSaysWhy) {
  RandomQuestions questions(5);
  for (int round = 0; round < kRounds; ++round) {
    const Answer answer = Resolve(BuiltInForTests(), questions.Question());
    EXPECT_EQ(
        answer.status == AnswerStatus::kImpossible || answer.status == AnswerStatus::kUnsupported,
        !answer.conflicts.empty());
    EXPECT_EQ(answer.status == AnswerStatus::kOk, answer.recommended.has_value());
  }
}

}  // namespace

}  // namespace pawl::compat
