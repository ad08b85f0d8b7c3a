#include "host/program.h"

#include <cstdio>

#include "host/complain.h"
#include "host/hooks.h"

namespace pawl::host {
namespace {

constexpr int kFailed = 1;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

int PrintVersion(const std::string& name, const std::string& version) {
  std::printf("%s version %s\n", name.c_str(), version.c_str());
  return 0;
}

// Takes the global flags off the front; they change nothing of what a hook does.
size_t SkipGlobalFlags(const std::vector<std::string>& arguments, size_t at) {
  while (at < arguments.size()) {
    const std::string& word = arguments[at];
    if (word == "--config" || word == "-c") {
      at += 2;
    } else if (word == "--debug" || word == "-d" || word == "--quiet" || word == "-q" ||
               word.starts_with("--debug=") || word.starts_with("--quiet=") ||
               word.starts_with("--config=")) {
      at += 1;
    } else {
      break;
    }
  }
  return at;
}

int RunNamedHook(const std::vector<std::string>& arguments, size_t at) {
  if (at >= arguments.size()) {
    Warn("no hook is named; known are " + KnownHooks());
    return 0;
  }
  const std::string& name = arguments[at];
  if (!IsHook(name)) {
    Warn("unknown hook \"" + name + "\": nothing is done; known are " + KnownHooks());
    return 0;
  }
  const std::vector<std::string> flags(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                       arguments.end());
  const Status done = RunHook(name, flags);
  if (done) return 0;
  Complain(name + ": " + done.error().message());
  return kFailed;
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments, const std::string& version) {
  const std::string name = arguments.empty() ? "pawl-runtime" : NameOf(arguments.front());
  size_t at = SkipGlobalFlags(arguments, 1);
  if (at < arguments.size() && (arguments[at] == "--version" || arguments[at] == "-v")) {
    return PrintVersion(name, version);
  }
  if (at < arguments.size() && arguments[at] == "hook") return RunNamedHook(arguments, at + 1);
  if (name == "nvidia-cdi-hook") return RunNamedHook(arguments, at);
  Complain("expected \"hook NAME\", found " +
           (at < arguments.size() ? "\"" + arguments[at] + "\"" : std::string("nothing")) +
           "; known hooks are " + KnownHooks());
  return kFailed;
}

}  // namespace pawl::host
