#include "host/flags.h"

#include <algorithm>

namespace pawl::host {

Result<Flags> Flags::Parse(const std::vector<std::string>& arguments,
                           const std::vector<std::string_view>& known) {
  Flags flags;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (!word.starts_with('-') || word.find_first_not_of('-') == std::string_view::npos) {
      return Fail(ErrorKind::kInvalid, "unexpected argument \"" + arguments[i] + "\"");
    }
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const size_t equals = word.find('=');
    const std::string name(word.substr(0, equals));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Fail(ErrorKind::kInvalid, "unknown flag --" + name);
    }
    if (equals != std::string_view::npos) {
      flags.values_.emplace_back(name, std::string(word.substr(equals + 1)));
    } else if (i + 1 < arguments.size()) {
      flags.values_.emplace_back(name, arguments[++i]);
    } else {
      return Fail(ErrorKind::kInvalid, "the flag --" + name + " needs a value");
    }
  }
  return flags;
}

std::vector<std::string> Flags::All(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [key, value] : values_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

std::string Flags::Last(std::string_view name, std::string_view otherwise) const {
  const auto found = std::find_if(values_.rbegin(), values_.rend(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == values_.rend() ? std::string(otherwise) : found->second;
}

}  // namespace pawl::host
