#include "compat/images.h"

#include <algorithm>
#include <array>

namespace pawl::compat {

namespace {

struct Parts {
  std::string_view repository, tag;
};

Parts SplitImage(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t slash = image.rfind('/');
  const size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return {image, ""};
  return {image.substr(0, colon), image.substr(colon + 1)};
}

std::string_view Until(std::string_view text, char end) { return text.substr(0, text.find(end)); }

// The pages of one NGC release agree on CUDA; the row with a stated minimum wins.
ImageContent FromNgc(const KnowledgeBase& knowledge, std::string_view release) {
  ImageContent content;
  for (const NamedImage& row : knowledge.ngc_images) {
    if (row.release != release || (content.known && row.min_cc == Version{})) continue;
    content = {true, std::string(row.cuda), std::nullopt, row.min_cc, row.from};
  }
  return content;
}

// "13.1.0.036" of the Triton table is CUDA 13.1.0.
std::string ThreeNumbers(std::string_view cuda) {
  size_t end = 0;
  for (int dots = 0; end < cuda.size(); ++end) {
    if (cuda[end] == '.' && ++dots == 3) break;
  }
  return std::string(cuda.substr(0, end));
}

ImageContent FromFramework(const KnowledgeBase& knowledge, const Parts& parts) {
  ImageContent content;
  const std::string_view version =
      Until(parts.tag.starts_with('v') ? parts.tag.substr(1) : parts.tag, '-');
  if (!ParseVersion(version)) return content;
  if (parts.repository.ends_with("pytorch/pytorch")) {
    const size_t cuda = parts.tag.find("-cuda");
    const auto row = std::ranges::find(knowledge.pytorch, version, &PyTorch::version);
    if (row == knowledge.pytorch.end() || cuda == std::string_view::npos) return content;
    const std::string variant(Until(parts.tag.substr(cuda + 5), '-'));
    content = {
        true, "", FrameworkWish{"pytorch", std::string(version), variant, ""}, {}, row->from};
    return content;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRepositories = {
      {{"tensorflow/tensorflow", "tensorflow"},
       {"vllm/vllm-openai", "vllm"},
       {"ollama/ollama", "ollama"}}};
  for (const auto& [repository, name] : kRepositories) {
    if (!parts.repository.ends_with(repository)) continue;
    if (name == "tensorflow" && parts.tag.find("gpu") == std::string_view::npos) return content;
    content.known = true;
    content.framework = FrameworkWish{std::string(name), std::string(version), "", ""};
  }
  return content;
}

}  // namespace

ImageContent FindImage(const KnowledgeBase& knowledge, std::string_view image) {
  const Parts parts = SplitImage(image);
  if (parts.repository.ends_with("nvidia/cuda")) {
    const auto row = std::ranges::find(knowledge.base_images, parts.tag, &BaseImage::tag);
    if (row != knowledge.base_images.end())
      return {true, std::string(row->cuda), std::nullopt, {}, row->from};
    // The tag begins with the version of a toolkit that we know, whatever its distribution is.
    const std::string_view cuda = Until(parts.tag, '-');
    if (const Toolkit* toolkit = ParseVersion(cuda) ? knowledge.FindToolkit(cuda) : nullptr) {
      return {true, std::string(cuda), std::nullopt, {}, toolkit->from};
    }
    return {};
  }
  if (parts.repository.starts_with("nvcr.io/nvidia/")) {
    for (const NamedImage& row : knowledge.triton_images) {
      if (row.image == image) return {true, ThreeNumbers(row.cuda), std::nullopt, {}, row.from};
    }
    return FromNgc(knowledge, Until(parts.tag, '-'));
  }
  return FromFramework(knowledge, parts);
}

}  // namespace pawl::compat
