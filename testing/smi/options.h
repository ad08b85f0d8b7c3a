// The command line of nvidia-smi, as far as people's scripts use it on GPU nodes.
#pragma once

#include <string>
#include <vector>

namespace pawl::smi {

enum class Mode { kTable, kList, kQuery, kVersion, kHelp };

struct Options {
  Mode mode = Mode::kTable;
  std::vector<std::string> gpus;    // -i: index, UUID, bus id; empty: all
  std::vector<std::string> fields;  // --query-gpu
  bool header = true;
  bool units = true;
  std::string error;  // not empty: what to print, then leave with code 1
};

Options ParseOptions(int argc, char** argv);

}  // namespace pawl::smi
