// `pawl version`: what this build is and which gpu-operator it stands in for.
#include "base/version.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/json.h"
#include "cli/commands.h"

namespace pawl::cli {

void AddVersion(CLI::App& app, int& exit_code) {
  auto format = std::make_shared<std::string>("text");
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->add_option("-o,--output", *format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([format, &exit_code] {
    if (*format == "json") {
      const json::object object = {{"version", kVersion},
                                   {"commit", kCommit},
                                   {"gpuOperatorCompatibility", kGpuOperatorCompatibility}};
      std::fputs(ToPrettyJson(object).c_str(), stdout);
    } else {
      std::printf("pawl %s (commit %s, compatible with gpu-operator %s)\n", kVersion, kCommit,
                  kGpuOperatorCompatibility);
    }
    exit_code = 0;
  });
}

}  // namespace pawl::cli
