// Finding a GPU by what people call it: a PCI id, or a product name in any spelling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/knowledge.h"

namespace pawl::compat {

struct GpuMatch {
  // One where the text names one board, or several that no rule tells apart (then the first of
  // them). Null: see the others.
  const Device* device = nullptr;
  std::vector<const Device*> candidates;  // boards that fit the text and differ; ask which
};

// "1EB8", "0x1eb8", "10de:1eb8", "Tesla T4", "t4", "rtx-3090", "NVIDIA A100 80GB PCIe". A name
// fits a board when its words are words of the board's name, in order and side by side; the boards
// with the fewest other words win.
GpuMatch FindGpu(const KnowledgeBase& knowledge, std::string_view text);

}  // namespace pawl::compat
