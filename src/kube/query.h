// A request's target: path and query, encoded.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kube/resource.h"

namespace pawl::kube {

class Target {
 public:
  explicit Target(std::string path) : text_(std::move(path)) {
    begun_ = text_.find('?') != std::string::npos;
  }

  // Adds key=value; an empty value adds nothing.
  Target& Add(std::string_view key, std::string_view value) {
    if (value.empty()) return *this;
    text_ += begun_ ? '&' : '?';
    begun_ = true;
    text_ += key;
    text_ += '=';
    text_ += PercentEncode(value);
    return *this;
  }

  const std::string& Text() const { return text_; }

 private:
  std::string text_;
  bool begun_ = false;
};

}  // namespace pawl::kube
