#include "agent/decide/preferred.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace pawl::agent {
namespace {

using Positions = std::vector<uint32_t>;

// GPUs whose pairs score what `score` says.
AlignedPreference Gpus(uint32_t count, const std::function<int(uint32_t, uint32_t)>& score) {
  gpu::Snapshot snapshot;
  for (uint32_t a = 0; a < count; ++a) {
    gpu::Gpu gpu;
    gpu.uuid = "GPU-" + std::to_string(a);
    snapshot.gpus.push_back(gpu);
    for (uint32_t b = a + 1; b < count; ++b) {
      const int nvlinks = score(a, b) / 100;
      snapshot.links.push_back(
          {.a = a, .b = b, .pcie_score = score(a, b) - 100 * nvlinks, .nvlinks = nvlinks});
    }
  }
  return AlignedPreference(snapshot);
}

Positions All(uint32_t count) {
  Positions all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Two halves of a machine, better within than across.
int Halves(uint32_t a, uint32_t b) { return (a < 4) == (b < 4) ? 20 : 10; }

TEST(AlignedPreference, LooksAtTheWholePartition) {  // spec/device-plugin.md, vector 29
  const AlignedPreference gpus = Gpus(4, [](uint32_t a, uint32_t b) {
    if (a == 0 && b == 1) return 300;
    if ((a == 0 && b == 2) || (a == 1 && b == 3)) return 200;
    return 10;
  });
  EXPECT_EQ(gpus.ChoosePositions(All(4), {}, 2), (Positions{0, 2}));
}

TEST(AlignedPreference, LeavesTheLonelyGpuForLater) {  // vector 30
  EXPECT_EQ(Gpus(8, Halves).ChoosePositions({0, 4, 5, 6}, {}, 2), (Positions{5, 6}));
}

TEST(AlignedPreference, TakesWhatIsRequired) {  // vector 31
  const AlignedPreference gpus = Gpus(4, [](uint32_t a, uint32_t b) {
    return (a == 0 && b == 1) || (a == 2 && b == 3) ? 400 : 20;
  });
  EXPECT_EQ(gpus.ChoosePositions(All(4), {2}, 2), (Positions{2, 3}));
}

TEST(AlignedPreference, NeverGivesAnIncompleteSet) {  // vector 32
  const AlignedPreference gpus = Gpus(7, [](uint32_t a, uint32_t b) {
    if (b < 4) return 50;
    return a >= 4 ? 650 : 10;
  });
  EXPECT_EQ(gpus.ChoosePositions(All(7), {}, 4), (Positions{0, 1, 2, 3}));
}

TEST(AlignedPreference, IsEmptyWhereItCannotBe) {  // vector 33
  const AlignedPreference gpus = Gpus(4, Halves);
  EXPECT_TRUE(gpus.ChoosePositions({0, 1}, {}, 3).empty());
  EXPECT_TRUE(gpus.ChoosePositions({0, 1}, {}, 0).empty());
  EXPECT_TRUE(gpus.ChoosePositions({0, 1}, {}, -1).empty());
  EXPECT_TRUE(gpus.ChoosePositions({0, 1, 2}, {0, 1}, 1).empty());
  EXPECT_TRUE(gpus.ChoosePositions({0, 1, 2}, {3}, 2).empty());
}

TEST(AlignedPreference, DoesNotDependOnTheOrderOfTheQuestion) {
  const AlignedPreference gpus = Gpus(8, Halves);
  EXPECT_EQ(gpus.ChoosePositions({7, 3, 1, 5, 2}, {}, 2),
            gpus.ChoosePositions({1, 2, 3, 5, 7}, {}, 2));
}

TEST(AlignedPreference, GivesTheSingleGpuThatTheOthersMissLeast) {
  const AlignedPreference gpus = Gpus(8, Halves);
  EXPECT_EQ(gpus.ChoosePositions({0, 1, 2, 4}, {}, 1), (Positions{4}));
  EXPECT_EQ(gpus.ChoosePositions({0, 1, 4, 5}, {}, 1), (Positions{0}));
  EXPECT_EQ(gpus.ChoosePositions({0, 1, 2, 4}, {1}, 1), (Positions{1}));
}

TEST(AlignedPreference, AnswersAtOnceWhenAllAreWanted) {
  EXPECT_EQ(Gpus(4, Halves).ChoosePositions({3, 1}, {}, 2), (Positions{1, 3}));
}

TEST(AlignedPreference, SpeaksInNamesAndPassesOverThoseItDoesNotKnow) {
  const AlignedPreference gpus = Gpus(8, Halves);
  EXPECT_EQ(gpus.Choose({"GPU-0", "GPU-6", "GPU-gone", "GPU-5", "GPU-4"}, {}, 2),
            (std::vector<std::string>{"GPU-5", "GPU-6"}));
  EXPECT_TRUE(gpus.Choose({"GPU-0", "GPU-1"}, {"GPU-gone"}, 1).empty());
}

// The best partition by trying all, to hold the tables against.
int BestSum(const std::function<int(uint32_t, uint32_t)>& score, Positions left, size_t size) {
  if (left.empty()) return 0;
  int best = -1;
  const size_t rest = left.size() % size;
  for (uint32_t part = 1; part < (1U << left.size()); part += 2) {  // with the first GPU in it
    const size_t members = static_cast<size_t>(__builtin_popcount(part));
    if (members != size && (rest == 0 || members != rest)) continue;
    Positions inside;
    Positions outside;
    for (size_t i = 0; i < left.size(); ++i) {
      (((part >> i) & 1U) != 0 ? inside : outside).push_back(left[i]);
    }
    int sum = 0;
    for (size_t i = 0; i < inside.size(); ++i) {
      for (size_t j = i + 1; j < inside.size(); ++j) sum += score(inside[i], inside[j]);
    }
    best = std::max(best, sum + BestSum(score, std::move(outside), size));
  }
  return best;
}

TEST(AlignedPreference, LosesNothingAgainstTryingAll) {
  uint32_t seed = 1;
  for (int round = 0; round < 30; ++round) {
    std::vector<int> table(49);
    for (int& value : table) {
      seed = seed * 1664525 + 1013904223;
      value = static_cast<int>((seed >> 16) % 7) * 10 + 10;
    }
    const auto score = [&table](uint32_t a, uint32_t b) {
      return table[std::min(a, b) * 7 + std::max(a, b)];
    };
    const AlignedPreference gpus = Gpus(7, score);
    for (int size = 2; size <= 4; ++size) {
      const Positions chosen = gpus.ChoosePositions(All(7), {}, size);
      ASSERT_EQ(chosen.size(), static_cast<size_t>(size));
      Positions others;
      for (const uint32_t gpu : All(7)) {
        if (std::find(chosen.begin(), chosen.end(), gpu) == chosen.end()) others.push_back(gpu);
      }
      int sum = BestSum(score, others, static_cast<size_t>(size));
      for (const uint32_t a : chosen) {
        for (const uint32_t b : chosen) {
          if (a < b) sum += score(a, b);
        }
      }
      EXPECT_EQ(sum, BestSum(score, All(7), static_cast<size_t>(size))) << round << " " << size;
    }
  }
}

TEST(AlignedPreference, AnswersForTheLargestMachines) {
  const AlignedPreference sixteen =
      Gpus(16, [](uint32_t a, uint32_t b) { return a / 4 == b / 4 ? 450 : 20; });
  for (int size = 1; size <= 16; ++size) {
    EXPECT_EQ(sixteen.ChoosePositions(All(16), {}, size).size(), static_cast<size_t>(size));
  }
  EXPECT_EQ(sixteen.ChoosePositions(All(16), {5}, 4), (Positions{4, 5, 6, 7}));
  const AlignedPreference more =
      Gpus(40, [](uint32_t a, uint32_t b) { return a / 4 == b / 4 ? 450 : 20; });
  EXPECT_EQ(more.ChoosePositions(All(40), {37}, 4), (Positions{36, 37, 38, 39}));
}

}  // namespace
}  // namespace pawl::agent
