#include "agent/decide/preferred.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace pawl::agent {
namespace {

using Set = uint32_t;  // a bit for each available GPU, in the order of positions

// Beyond this many available GPUs the tables would grow past all sense; no known machine has more.
constexpr size_t kMostForExact = 16;

// The best way to part a set of GPUs into sets of `size`, one of them smaller where it does not
// divide. Remembers what it has worked out for every subset.
class Partition {
 public:
  Partition(const std::vector<std::vector<int>>& scores, size_t size)
      : size_(size),
        score_(size_t{1} << scores.size(), 0),
        best_(score_.size(), kUnknown),
        first_(score_.size(), 0) {
    // The pairs of a set: those without its lowest GPU, those without its next, less those counted
    // twice, and the pair of these two.
    for (Set set = 1; set < score_.size(); ++set) {
      const Set lowest = set & (~set + 1);
      const Set others = set & ~lowest;
      if (others == 0) continue;
      const Set next = others & (~others + 1);
      score_[set] = score_[others] + score_[set & ~next] - score_[others & ~next] +
                    scores[Number(lowest)][Number(next)];
    }
  }

  // The sum of the scores of all pairs in a set.
  int Score(Set set) const { return score_[set]; }

  // The greatest sum of the scores of the parts.
  int Best(Set set) {
    if (set == 0) return 0;
    if (best_[set] != kUnknown) return best_[set];
    const size_t members = Size(set);
    const Set lowest = set & (~set + 1);
    best_[set] = -1;
    // The part with the lowest GPU in it: a complete one, or the smaller one if that is not taken.
    if (members >= size_) Extend(set, lowest, set & ~lowest, size_ - 1);
    const size_t rest = members % size_;
    if (rest != 0) Extend(set, lowest, set & ~lowest, rest - 1);
    return best_[set];
  }

  // The parts of the best partition, in the order of their lowest GPU.
  std::vector<Set> Parts(Set set) {
    std::vector<Set> parts;
    while (set != 0) {
      Best(set);
      parts.push_back(first_[set]);
      set &= ~first_[set];
    }
    return parts;
  }

  static size_t Size(Set set) { return static_cast<size_t>(std::popcount(set)); }

 private:
  static constexpr int kUnknown = -2;

  static size_t Number(Set one) { return static_cast<size_t>(std::countr_zero(one)); }

  // All ways to add `missing` of the candidates to `part`, in order; the first best one is kept.
  void Extend(Set set, Set part, Set candidates, size_t missing) {
    if (missing == 0) {
      const int total = score_[part] + Best(set & ~part);
      if (total > best_[set]) {
        best_[set] = total;
        first_[set] = part;
      }
      return;
    }
    for (size_t left = Size(candidates); left >= missing; --left) {
      const Set next = candidates & (~candidates + 1);
      candidates &= ~next;
      Extend(set, part | next, candidates, missing - 1);
    }
  }

  const size_t size_;
  std::vector<int> score_;
  std::vector<int> best_;
  std::vector<Set> first_;
};

// Calls `visit` with every set of `size` GPUs of `count` that holds all of `required`.
template <typename Visit>
void ForEachSetWith(Set required, size_t count, size_t size, const Visit& visit) {
  const auto extend = [&](const auto& self, Set part, size_t next) -> void {
    if (Partition::Size(part) == size) {
      visit(part);
      return;
    }
    for (size_t gpu = next; gpu < count; ++gpu) {
      if (((required >> gpu) & 1U) == 0) self(self, part | (Set{1} << gpu), gpu + 1);
    }
  };
  extend(extend, required, 0);
}

Set ChooseExactly(const std::vector<std::vector<int>>& scores, Set required, size_t size) {
  const size_t count = scores.size();
  const Set all = static_cast<Set>((uint64_t{1} << count) - 1);
  Partition partition(scores, size);
  Set chosen = 0;
  int best = std::numeric_limits<int>::min();
  if (required != 0) {
    ForEachSetWith(required, count, size, [&](Set part) {
      const int total = partition.Score(part) + partition.Best(all & ~part);
      if (total > best) {
        best = total;
        chosen = part;
      }
    });
    return chosen;
  }
  for (const Set part : partition.Parts(all)) {
    if (Partition::Size(part) != size) continue;  // only complete sets
    const int score = partition.Score(part);
    if (score > best) {
      best = score;
      chosen = part;
    }
  }
  return chosen;
}

// One GPU: the one that the others miss least.
size_t ChooseOne(const std::vector<std::vector<int>>& scores) {
  size_t chosen = 0;
  int least = std::numeric_limits<int>::max();
  for (size_t gpu = 0; gpu < scores.size(); ++gpu) {
    int ties = 0;
    for (const int score : scores[gpu]) ties += score;
    if (ties < least) {
      least = ties;
      chosen = gpu;
    }
  }
  return chosen;
}

// For more GPUs than can be looked through: the best next one, again and again.
std::vector<size_t> ChooseGreedily(const std::vector<std::vector<int>>& scores,
                                   std::vector<size_t> chosen, size_t size) {
  while (chosen.size() < size) {
    size_t next = scores.size();
    int best = std::numeric_limits<int>::min();
    for (size_t gpu = 0; gpu < scores.size(); ++gpu) {
      if (std::find(chosen.begin(), chosen.end(), gpu) != chosen.end()) continue;
      int score = 0;
      for (const size_t other : chosen) score += scores[gpu][other];
      if (score > best) {
        best = score;
        next = gpu;
      }
    }
    chosen.push_back(next);
  }
  return chosen;
}

void SortUnique(std::vector<uint32_t>& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

AlignedPreference::AlignedPreference(const gpu::Snapshot& snapshot)
    : scores_(snapshot.gpus.size() * snapshot.gpus.size(), 0) {
  for (const gpu::Gpu& gpu : snapshot.gpus) {
    positions_.emplace(gpu.uuid, static_cast<uint32_t>(uuids_.size()));
    uuids_.push_back(gpu.uuid);
  }
  for (const gpu::Link& link : snapshot.links) {
    if (link.a >= uuids_.size() || link.b >= uuids_.size()) continue;
    scores_[link.a * uuids_.size() + link.b] = link.score();
    scores_[link.b * uuids_.size() + link.a] = link.score();
  }
}

std::vector<std::string> AlignedPreference::Choose(const std::vector<std::string>& available,
                                                   const std::vector<std::string>& required,
                                                   int size) const {
  std::vector<uint32_t> known;
  std::vector<uint32_t> needed;
  for (const std::string& uuid : available) {
    const auto found = positions_.find(uuid);
    if (found != positions_.end()) known.push_back(found->second);
  }
  for (const std::string& uuid : required) {
    const auto found = positions_.find(uuid);
    if (found == positions_.end()) return {};
    needed.push_back(found->second);
  }
  std::vector<std::string> chosen;
  for (const uint32_t position : ChoosePositions(std::move(known), std::move(needed), size)) {
    chosen.push_back(uuids_[position]);
  }
  return chosen;
}

std::vector<uint32_t> AlignedPreference::ChoosePositions(std::vector<uint32_t> available,
                                                         std::vector<uint32_t> required,
                                                         int size) const {
  SortUnique(available);
  SortUnique(required);
  if (size <= 0) return {};
  const size_t wanted = static_cast<size_t>(size);
  if (available.size() < wanted || required.size() > wanted) return {};
  if (!std::includes(available.begin(), available.end(), required.begin(), required.end())) {
    return {};
  }
  if (available.size() == wanted) return available;
  if (required.size() == wanted) return required;

  std::vector<std::vector<int>> scores(available.size(), std::vector<int>(available.size(), 0));
  Set must = 0;
  std::vector<size_t> chosen;
  for (size_t a = 0; a < available.size(); ++a) {
    if (std::binary_search(required.begin(), required.end(), available[a])) {
      must |= Set{1} << (a % 32);
      chosen.push_back(a);
    }
    for (size_t b = 0; b < available.size(); ++b) {
      if (a != b) scores[a][b] = Score(available[a], available[b]);
    }
  }
  if (wanted == 1) {
    chosen = {ChooseOne(scores)};
  } else if (available.size() > kMostForExact) {
    chosen = ChooseGreedily(scores, std::move(chosen), wanted);
  } else {
    const Set set = ChooseExactly(scores, must, wanted);
    chosen.clear();
    for (size_t a = 0; a < available.size(); ++a) {
      if (((set >> a) & 1U) != 0) chosen.push_back(a);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<uint32_t> positions;
  positions.reserve(chosen.size());
  for (const size_t a : chosen) positions.push_back(available[a]);
  return positions;
}

}  // namespace pawl::agent
