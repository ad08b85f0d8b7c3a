// What a container image brings: rows of the data about CUDA, NGC and Triton images, and the
// framework images whose tags name their versions. Anything else is unknown, never guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/input.h"
#include "compat/knowledge.h"

namespace pawl::compat {

struct ImageContent {
  bool known = false;
  std::string cuda;  // empty: comes with the framework
  std::optional<FrameworkWish> framework;
  Version min_cc;  // 0: not stated
  Provenance from;
};

// "nvidia/cuda:12.4.1-base-ubuntu22.04", "nvcr.io/nvidia/pytorch:24.05-py3",
// "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", … A digest after the tag is ignored.
ImageContent FindImage(const KnowledgeBase& knowledge, std::string_view image);

}  // namespace pawl::compat
