// Flags of a hook: "--name value" or "--name=value", with one dash or two, repeatable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pawl::host {

class Flags {
 public:
  // kInvalid for a flag that is not in `known`, a missing value, or a word that is no flag.
  static Result<Flags> Parse(const std::vector<std::string>& arguments,
                             const std::vector<std::string_view>& known);

  std::vector<std::string> All(std::string_view name) const;

  // The last one, as later flags win.
  std::string Last(std::string_view name, std::string_view otherwise = "") const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace pawl::host
