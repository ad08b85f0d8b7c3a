// Which GPUs kubelet should rather take: those that are best connected among themselves and leave a
// well connected rest (spec/device-plugin.md §9, "aligned").
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/model.h"

namespace pawl::agent {

class AlignedPreference {
 public:
  // Reads the scores of all pairs once; a pair without a link scores 0.
  explicit AlignedPreference(const gpu::Snapshot& snapshot);

  // `size` of the available devices, the required ones among them, by UUID and in the order of
  // their GPUs. Unknown names are passed over. Empty when it cannot be done (size ≤ 0, fewer known
  // devices than size, more required than size, a required one not available): kubelet then picks
  // itself.
  std::vector<std::string> Choose(const std::vector<std::string>& available,
                                  const std::vector<std::string>& required, int size) const;

  // The same on positions in the snapshot.
  std::vector<uint32_t> ChoosePositions(std::vector<uint32_t> available,
                                        std::vector<uint32_t> required, int size) const;

 private:
  int Score(uint32_t a, uint32_t b) const { return scores_[a * uuids_.size() + b]; }
  std::vector<std::string> uuids_;
  std::unordered_map<std::string, uint32_t> positions_;
  std::vector<int> scores_;  // a square matrix
};

}  // namespace pawl::agent
