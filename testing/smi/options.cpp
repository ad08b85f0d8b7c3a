#include "testing/smi/options.h"

#include <string_view>

namespace pawl::smi {
namespace {

std::vector<std::string> SplitCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

// False: not a format there is.
bool ParseFormat(std::string_view text, Options& options) {
  bool csv = false;
  for (const std::string& word : SplitCommas(text)) {
    if (word == "csv")
      csv = true;
    else if (word == "noheader")
      options.header = false;
    else if (word == "nounits")
      options.units = false;
    else
      return false;
  }
  return csv;
}

constexpr const char* kInvalid =
    "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n";

}  // namespace

Options ParseOptions(int argc, char** argv) {
  Options options;
  bool format = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value_of = [&](std::string_view name) { return word.substr(name.size()); };
    if (word == "-L" || word == "--list-gpus") {
      options.mode = Mode::kList;
    } else if (word == "-h" || word == "--help") {
      options.mode = Mode::kHelp;
    } else if (word == "--version") {
      options.mode = Mode::kVersion;
    } else if (word == "-i" && i + 1 < argc) {
      options.gpus = SplitCommas(argv[++i]);
    } else if (word.starts_with("--id=")) {
      options.gpus = SplitCommas(value_of("--id="));
    } else if (word.starts_with("--query-gpu=")) {
      options.mode = Mode::kQuery;
      options.fields = SplitCommas(value_of("--query-gpu="));
    } else if (word.starts_with("--format=")) {
      format = ParseFormat(value_of("--format="), options);
      if (!format)
        options.error =
            "\"" + std::string(value_of("--format=")) + "\" is not a valid format. \"csv\" is.\n";
    } else {
      options.error = kInvalid;
    }
  }
  if (options.mode == Mode::kQuery && !format && options.error.empty()) {
    options.error = "\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.\n";
  }
  if (options.mode != Mode::kQuery && format) options.error = kInvalid;
  return options;
}

}  // namespace pawl::smi
