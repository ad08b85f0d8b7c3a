// A folder of the host, under the name it has there and under the name by which we see it. In a
// container the host's "/" may be our "/host": files are looked up under `view`, and named under
// `host` in what the host's container runtime will read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cdi {

struct Root {
  std::string host = "/";
  std::string view = "/";

  // Both names the same.
  static Root Of(const std::string& path) { return {path, path}; }
};

// A file below a root.
struct FoundFile {
  std::string view_path;       // where we read it
  std::string host_path;       // where the host's runtime finds it
  std::string container_path;  // without the root: where a container sees it

  bool operator==(const FoundFile&) const = default;
};

enum class FileKind { kRegular, kDirectory, kSocket, kOther };

// Follows every symbolic link inside the root. Nothing where the path leads nowhere.
std::optional<FoundFile> FindFile(const Root& root, std::string_view path);

// The type of a found file; kOther also where it went away since.
FileKind KindOf(const FoundFile& file);

// The regular files in a folder below the root whose names `matches` accepts, links followed inside
// the root, sorted by name, each real file once.
std::vector<FoundFile> FindMatches(const Root& root, const std::string& folder,
                                   const std::function<bool(std::string_view name)>& matches);

std::string FolderOf(std::string_view path);  // "/usr/lib" of "/usr/lib/libcuda.so.1"
std::string NameOf(std::string_view path);    // "libcuda.so.1"

}  // namespace pawl::cdi
