// Overrides: rows on top of the built-in ones, held to the same schema.
#include <gmock/gmock.h>

#include <random>

#include "compat/testing.h"

namespace pawl::compat {

namespace {

constexpr std::string_view kTail = R"(, "source": "a test", "confidence": "documented"})";

TextFile DriverFile(std::string_view section, std::string_view row) {
  return {"drivers.yaml",
          "schema_version: 1\n" + std::string(section) + ":\n- " + std::string(row) + "\n"};
}

std::string ErrorOf(const TextFile& file) {
  const Result<KnowledgeBase> merged = BuiltInForTests().With({file});
  return merged ? "" : merged.error().message();
}

TEST(Override, AClusterLearnsANewDriver) {
  const Result<KnowledgeBase> merged = BuiltInForTests().With({DriverFile(
      "versions",
      R"({"version": "595.120.01", "branch": "595", "date": "2026-11-30", "container": true)" +
          std::string(kTail))});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(Resolve(*merged, InputOf(R"({"gpus": ["1EB8"]})")).recommended->version, "595.120.01");
  EXPECT_EQ(Ask(R"({"gpus": ["1EB8"]})").recommended->version,
            "595.91.07");  // the built-in rows stay
}

TEST(Override, ARowReplacesTheOneOfEqualKey) {
  const size_t before = BuiltInForTests().versions.size();
  const Result<KnowledgeBase> merged = BuiltInForTests().With(
      {DriverFile("versions", R"({"version": "595.91.07", "branch": "595", "date": "2026-08-03")" +
                                  std::string(kTail))});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->versions.size(), before);
  EXPECT_FALSE(merged->FindVersion("595.91.07")->container);
}

TEST(Override, RemoveTakesARowAway) {
  const Result<KnowledgeBase> merged = BuiltInForTests().With(
      {DriverFile("versions", R"({"version": "595.91.07", "remove": true})")});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->FindVersion("595.91.07"), nullptr);
}

TEST(Override, ALaterFileWins) {
  const auto file = [](std::string_view date) {
    return DriverFile("versions", R"({"version": "1.1", "branch": "1", "date": ")" +
                                      std::string(date) + "\"" + std::string(kTail));
  };
  const Result<KnowledgeBase> merged =
      BuiltInForTests().With({file("2026-01-01"), file("2026-02-02")});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->FindVersion("1.1")->date, "2026-02-02");
}

TEST(Override, OverridesMayBeStacked) {
  const Result<KnowledgeBase> one = BuiltInForTests().With(
      {DriverFile("versions", R"({"version": "1.1", "branch": "1")" + std::string(kTail))});
  ASSERT_TRUE(one);
  const Result<KnowledgeBase> two = one->With(
      {DriverFile("versions", R"({"version": "1.2", "branch": "1")" + std::string(kTail))});
  ASSERT_TRUE(two);
  EXPECT_TRUE(two->FindVersion("1.1") != nullptr && two->FindVersion("1.2") != nullptr);
}

TEST(Override, BlockYamlIsReadAsWell) {
  const TextFile file{"kernels.yaml", R"(schema_version: 1
breakages:
  - id: ours
    title: our kernel
    modules: both
    kernel:
      - series: "6.8"
    affected:
      - branch: "595"
    source: our own builds
    confidence: documented
)"};
  const Result<KnowledgeBase> merged = BuiltInForTests().With({file});
  ASSERT_TRUE(merged) << merged.error().message();
  const Answer answer = Resolve(*merged, InputOf(R"({"kernel": "6.8.0", "driver": "595.91.07"})"));
  EXPECT_THAT(answer.conflicts, testing::Contains("BREAKAGE:ours"));
}

TEST(Override, JsonIsYaml) {
  const TextFile file{
      "drivers.json",
      R"({"schema_version": 1, "versions": [{"version": "595.91.07", "remove": true}]})"};
  const Result<KnowledgeBase> merged = BuiltInForTests().With({file});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->FindVersion("595.91.07"), nullptr);
}

struct Mistake {
  std::string_view section, row, message;
};

TEST(Override, AMistakeIsNamedByFileRowAndField) {
  const std::vector<Mistake> mistakes = {
      {"versions",
       R"({"version": "595.x", "branch": "595", "source": "a", "confidence": "documented"})",
       "drivers.yaml: line 3 (versions): version: expected a version in quotes, as \"580.126.20\", "
       "found \"595.x\""},
      {"versions", R"({"branch": "595", "source": "a", "confidence": "documented"})",
       "drivers.yaml: line 3 (versions): version: is required"},
      {"versions",
       R"({"version": "595.1", "branch": 595, "source": "a", "confidence": "documented"})",
       "drivers.yaml: line 3 (versions): branch: expected a branch in quotes, as \"580\", found "
       "595"},
      {"versions", R"({"version": "595.1", "branch": "595", "confidence": "documented"})",
       "drivers.yaml: line 3 (versions): source: is required"},
      {"versions", R"({"version": "595.1", "branch": "595", "source": "a", "confidence": "sure"})",
       "drivers.yaml: line 3 (versions): confidence: expected one of documented, reported, "
       "inferred, found \"sure\""},
      {"versions",
       R"({"version": "595.1", "branch": "595", "date": "2026-13", "source": "a", "confidence": "documented"})",
       "drivers.yaml: line 3 (versions): date: expected a date in quotes, as \"2026\", \"2026-12\" "
       "or \"2026-12-01\", found \"2026-13\""},
      {"versions", R"({"version": "595.1", "remove": "yes"})",
       "drivers.yaml: line 3 (versions): remove: expected true or false, found \"yes\""},
      {"versions", R"({"remove": true})", "drivers.yaml: line 3 (versions): version: is required"},
      {"breakages",
       R"({"id": "a", "title": "a", "modules": "both", "kernel": [{"abi_from": -1}], "affected": [{"branch": "any"}], "source": "a", "confidence": "documented"})",
       "drivers.yaml: line 3 (breakages): kernel[0].abi_from: expected a whole number from 0 on, "
       "found -1"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(ErrorOf(DriverFile(mistake.section, mistake.row)),
                testing::StartsWith(std::string(mistake.message)))
        << mistake.row;
  }
}

TEST(Override, AnUnknownSchemaVersionIsRefused) {
  EXPECT_EQ(ErrorOf({"x.yaml", "schema_version: 2\nversions:\n"}),
            "x.yaml: expected schema_version: 1, found schema_version: 2");
  EXPECT_EQ(ErrorOf({"x.yaml", "versions:\n"}), "x.yaml: expected schema_version: 1, found none");
}

TEST(Override, TextThatIsNoYamlIsRefused) {
  for (const std::string_view text :
       {"", "{", "- a", "schema_version: 1\nversions: [", "\xff\xfe"}) {
    EXPECT_NE(ErrorOf({"x.yaml", std::string(text)}), "") << text;
  }
}

TEST(Override, UnknownFieldsAreIgnoredAndUnknownSectionsNoted) {
  std::vector<std::string> notes;
  const TextFile file{"x.yaml",
                      "schema_version: 1\nversionen:\n- {\"version\": \"1.1\"}\nversions:\n- "
                      "{\"version\": \"1.1\", \"branch\": \"1\", \"colour\": "
                      "\"green\"" +
                          std::string(kTail) + "\n"};
  const Result<KnowledgeBase> merged = BuiltInForTests().With({file}, &notes);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_THAT(notes, testing::ElementsAre("x.yaml: no section versionen is known, ignored"));
}

TEST(Override, RulesOfTwoFilesAreToldApartByTheFile) {
  const std::string row =
      R"(- {"rule": "ours", "text": "t", "value": "v")" + std::string(kTail) + "\n";
  const Result<KnowledgeBase> merged =
      BuiltInForTests().With({{"frameworks.yaml", "schema_version: 1\nrules:\n" + row}});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->FindRule("ours")->text, "t");
}

TEST(Override, DamagedFilesAreRefusedOrReadButNeverWorse) {
  std::string file =
      "schema_version: 1\nversions:\n- {\"version\": \"1.1\", \"branch\": \"1\", \"date\": "
      "\"2026-01-01\"" +
      std::string(kTail) + "\nbreakages:\n" +
      R"(- {"id": "a", "title": "t", "modules": "both", "kernel": [{"from": "1.2"}], "affected": [{"branch": "any"}])" +
      std::string(kTail) + "\n";
  std::mt19937 random(1);
  const auto below = [&random](size_t size) {
    return std::uniform_int_distribution<size_t>(0, size - 1)(random);
  };
  for (int round = 0; round < 400; ++round) {
    std::string damaged = file;
    for (size_t i = 0; i <= below(4); ++i) {
      const size_t at = below(damaged.size());
      if (below(3) == 0) {
        damaged.erase(at, below(20));
      } else {
        damaged[at] = static_cast<char>(below(256));
      }
      if (damaged.empty()) damaged = "x";
    }
    const Result<KnowledgeBase> merged = BuiltInForTests().With({{"x.yaml", damaged}});
    if (!merged) {
      EXPECT_FALSE(merged.error().message().empty());
    }
  }
}

}  // namespace

}  // namespace pawl::compat
