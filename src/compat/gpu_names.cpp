#include "compat/gpu_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace pawl::compat {

namespace {

constexpr std::array<std::string_view, 8> kFillers = {"nvidia", "corporation", "tesla", "geforce",
                                                      "quadro", "graphics",    "gpu",   "card"};

// Lower-case words; letters and digits are words of their own: "rtx3090" and "RTX 3090" are alike.
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words;
  int kind = 0;  // of the word being read: 1 letters, 2 digits
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const int now = std::isalpha(byte) != 0 ? 1 : std::isdigit(byte) != 0 ? 2 : 0;
    if (now != 0 && now != kind) words.emplace_back();
    if (now != 0) words.back() += static_cast<char>(std::tolower(byte));
    kind = now;
  }
  std::erase_if(words, [](const std::string& word) {
    return std::ranges::find(kFillers, word) != kFillers.end();
  });
  return words;
}

// How many words of `name` are not in `wanted`; -1 where it does not contain it.
int Extra(std::string_view name, const std::vector<std::string>& wanted) {
  const std::vector<std::string> words = Words(name);
  if (std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) == words.end())
    return -1;
  return static_cast<int>(words.size() - wanted.size());
}

// No rule tells them apart.
bool Alike(const KnowledgeBase& knowledge, const Device& a, const Device& b) {
  const auto same_overrides = [&] {
    return std::ranges::all_of(knowledge.overrides, [&](const Override& row) {
      return row.pci_ids.Contains(a.pci_id) == row.pci_ids.Contains(b.pci_id);
    });
  };
  return a.arch == b.arch && a.cc == b.cc && a.cls == b.cls && a.last_branch == b.last_branch &&
         a.open_kernel == b.open_kernel && a.min_driver == b.min_driver && same_overrides();
}

std::string PciId(std::string_view text) {
  std::string upper;
  for (const char c : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string_view prefix : {"0X", "10DE:", "10DE"}) {
    if (upper.size() > 4 && upper.starts_with(prefix)) upper.erase(0, prefix.size());
  }
  const bool is_id = upper.size() == 4 && std::ranges::all_of(upper, [](unsigned char c) {
                       return std::isxdigit(c) != 0;
                     });
  return is_id ? upper : "";
}

}  // namespace

GpuMatch FindGpu(const KnowledgeBase& knowledge, std::string_view text) {
  if (const std::string id = PciId(text); !id.empty()) {
    if (const Device* device = knowledge.FindDevice(id)) return {device, {device}};
  }
  const std::vector<std::string> wanted = Words(text);
  GpuMatch match;
  if (wanted.empty()) return match;
  int fewest = INT32_MAX;
  for (const Device& device : knowledge.devices) {
    int extra = Extra(device.name, wanted);
    for (size_t i = 0; i < device.other_names.size(); ++i) {
      const int other = Extra(device.other_names[i], wanted);
      if (other >= 0 && (extra < 0 || other < extra)) extra = other;
    }
    if (extra < 0 || extra > fewest) continue;
    if (extra < fewest) match.candidates.clear();
    fewest = extra;
    match.candidates.push_back(&device);
  }
  // Boards that were never named are not what people mean.
  const auto unnamed = [](const Device* device) { return device->cls == "unknown"; };
  if (!std::ranges::all_of(match.candidates, unnamed)) std::erase_if(match.candidates, unnamed);
  if (match.candidates.empty()) return match;
  const Device& first = *match.candidates.front();
  if (std::ranges::all_of(match.candidates,
                          [&](const Device* other) { return Alike(knowledge, first, *other); })) {
    match.device = &first;
  }
  return match;
}

}  // namespace pawl::compat
