#include "host/container_state.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "host/container_root.h"

namespace pawl::host {
namespace {
constexpr size_t kLimit = size_t{16} << 20;
}

Result<std::string> RootOfState(std::string_view state) {
  const Result<json::value> value = ParseJson(state);
  if (!value) return Fail(value.error().With("the container's state"));
  const std::string bundle = TextAt(*value, {"bundle"});
  std::string root = TextAt(*value, {"root"});
  if (root.empty()) {
    if (!bundle.starts_with('/')) {
      return Fail(
          ErrorKind::kInvalid,
          "the container's state: bundle: expected an absolute path, found \"" + bundle + "\"");
    }
    const std::string file = Under(bundle, "config.json");
    const Result<std::string> text = ReadFile(file, kLimit);
    if (!text) return Fail(text.error());
    const Result<json::value> config = ParseJson(*text);
    if (!config) return Fail(config.error().With(file));
    root = TextAt(*config, {"root", "path"});
    if (root.empty()) return Fail(ErrorKind::kInvalid, file + ": root.path: is required");
  }
  if (root.starts_with('/')) return root;
  if (!bundle.starts_with('/')) {
    return Fail(ErrorKind::kInvalid, "the container's state: a relative root needs a bundle");
  }
  return Under(bundle, root);
}

Result<std::string> ReadState(const std::string& file) {
  if (!file.empty() && file != "-") return ReadFile(file, kLimit);
  Result<std::string> text = ReadAll(STDIN_FILENO, kLimit);
  if (!text) return Fail(text.error().With("the container's state on standard input"));
  return text;
}

}  // namespace pawl::host
