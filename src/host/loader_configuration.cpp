#include "host/loader_configuration.h"

#include <fcntl.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/text.h"

namespace pawl::host {
namespace {

#if defined(__x86_64__)
constexpr const char* kMachine = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kMachine = "aarch64";
#else
#error "the loader's folders of this machine are not known"
#endif

constexpr const char* kConf = "/etc/ld.so.conf";
constexpr const char* kConfFolder = "/etc/ld.so.conf.d";
constexpr const char* kIncludeLine = "include /etc/ld.so.conf.d/*.conf\n";
constexpr mode_t kFileMode = 0644;

bool Exists(const ContainerRoot& root, const char* path) {
  return root.OpenAt(path, O_PATH).has_value();
}

// A line without its comment and outer white space.
std::string_view Meaning(std::string_view line) { return Trim(line.substr(0, line.find('#'))); }

// The patterns of an include line; empty for any other line.
std::vector<std::string> IncludePatterns(std::string_view line) {
  std::vector<std::string> words = SplitWords(Meaning(line));
  if (words.empty() || words.front() != "include") return {};
  words.erase(words.begin());
  for (std::string& pattern : words) {
    if (!pattern.starts_with('/')) pattern = "/etc/" + pattern;
  }
  return words;
}

bool IncludesConfFolder(std::string_view conf) {
  for (const std::string& line : Lines(conf)) {
    for (const std::string& pattern : IncludePatterns(line)) {
      if (pattern == std::string(kConfFolder) + "/*.conf" ||
          pattern == std::string(kConfFolder) + "/*") {
        return true;
      }
    }
  }
  return false;
}

void ReadConf(const ContainerRoot& root, const std::string& file, int depth,
              std::vector<std::string>& folders);

void ReadIncluded(const ContainerRoot& root, const std::string& pattern, int depth,
                  std::vector<std::string>& folders) {
  const size_t slash = pattern.rfind('/');
  const std::string folder = pattern.substr(0, slash + 1);
  const std::string names = pattern.substr(slash + 1);
  const Result<FileDescriptor> handle = root.OpenFolder(folder);
  if (!handle) return;
  const Result<std::vector<std::string>> found = NamesIn(handle->get());
  if (!found) return;
  for (const std::string& name : *found) {
    if (name == kDriverConf || name == kSystemConf) continue;
    if (fnmatch(names.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
    ReadConf(root, folder + name, depth + 1, folders);
  }
}

void ReadConf(const ContainerRoot& root, const std::string& file, int depth,
              std::vector<std::string>& folders) {
  constexpr int kMaxDepth = 4;  // an image may include in a circle
  if (depth > kMaxDepth) return;
  const Result<std::string> text = root.ReadFile(file);
  if (!text) return;
  for (const std::string& line : Lines(*text)) {
    for (const std::string& pattern : IncludePatterns(line)) {
      ReadIncluded(root, pattern, depth, folders);
    }
    std::string folder(Meaning(line));
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    if (folder.starts_with('/')) folders.push_back(std::move(folder));
  }
}

std::vector<std::string> SystemFolders(const ContainerRoot& root) {
  const std::string machine = kMachine;
  if (Exists(root, "/etc/debian_version")) {
    const std::string triplet = machine + "-linux-gnu";
    return {"/lib/" + triplet, "/usr/lib/" + triplet, "/lib", "/usr/lib"};
  }
  std::vector<std::string> folders = {"/lib", "/usr/lib", "/lib64", "/usr/lib64"};
  if (machine == "x86_64") {
    folders.emplace_back("/libx32");
    folders.emplace_back("/usr/libx32");
  }
  return folders;
}

std::string AsLines(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) text += folder + "\n";
  return text;
}

Status CheckFolders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const bool plain = std::all_of(folder.begin(), folder.end(), [](char c) {
      return static_cast<unsigned char>(c) > ' ' && c != '#' && c != '=' && c != 0x7f;
    });
    if (!folder.starts_with('/') || !plain) {
      return Fail(ErrorKind::kInvalid, "folder \"" + folder +
                                           "\": expected an absolute path without white space, "
                                           "\"#\" and \"=\"");
    }
  }
  return {};
}

Status AddIncludeLine(const ContainerRoot& root) {
  const Result<std::string> conf = root.ReadFile(kConf);
  if (!conf && conf.error().kind() != ErrorKind::kNotFound) return Fail(conf.error());
  std::string text = conf ? *conf : std::string();
  if (IncludesConfFolder(text)) return {};
  if (!text.empty() && !text.ends_with('\n')) text += "\n";
  const Result<FileDescriptor> etc = root.MakeFolders("/etc");
  if (!etc) return Fail(etc.error());
  return ReplaceFile(etc->get(), "ld.so.conf", text + kIncludeLine, kFileMode);
}

// musl knows no ld.so.conf: its file replaces the built-in folders, so a new one names them too.
Status ExtendMuslPath(const ContainerRoot& root, const std::vector<std::string>& folders) {
  if (!Exists(root, "/etc/alpine-release")) return {};
  const std::string name = "ld-musl-" + std::string(kMachine) + ".path";
  const Result<std::string> old = root.ReadFile("/etc/" + name);
  if (!old && old.error().kind() != ErrorKind::kNotFound) return Fail(old.error());
  std::string text = old ? *old : "/lib\n/usr/local/lib\n/usr/lib\n";
  std::vector<std::string> listed = Split(ReplaceAll(text, "\n", ":"), ':');
  if (!text.empty() && !text.ends_with('\n')) text += "\n";
  for (const std::string& folder : folders) {
    if (std::find(listed.begin(), listed.end(), folder) != listed.end()) continue;
    listed.push_back(folder);
    text += folder + "\n";
  }
  const Result<FileDescriptor> etc = root.MakeFolders("/etc");
  if (!etc) return Fail(etc.error());
  return ReplaceFile(etc->get(), name, text, kFileMode);
}

}  // namespace

std::vector<std::string> ConfiguredFolders(const ContainerRoot& root) {
  std::vector<std::string> folders;
  ReadConf(root, kConf, 0, folders);
  return folders;
}

Status WriteLoaderConfiguration(const ContainerRoot& root,
                                const std::vector<std::string>& folders) {
  if (Status valid = CheckFolders(folders); !valid) return valid;
  if (Status added = AddIncludeLine(root); !added) return added;
  const Result<FileDescriptor> conf_folder = root.MakeFolders(kConfFolder);
  if (!conf_folder) return Fail(conf_folder.error());

  const std::vector<std::string> covered = ConfiguredFolders(root);
  std::vector<std::string> missing;
  for (const std::string& folder : folders) {
    if (std::find(covered.begin(), covered.end(), folder) == covered.end() &&
        std::find(missing.begin(), missing.end(), folder) == missing.end()) {
      missing.push_back(folder);
    }
  }
  Status written = missing.empty()
                       ? RemoveName(conf_folder->get(), kDriverConf)
                       : ReplaceFile(conf_folder->get(), kDriverConf, AsLines(missing), kFileMode);
  if (!written) return written;
  const std::vector<std::string> system = SystemFolders(root);
  written = ReplaceFile(conf_folder->get(), kSystemConf, AsLines(system), kFileMode);
  if (!written) return written;

  std::vector<std::string> all = folders;
  all.insert(all.end(), system.begin(), system.end());
  return ExtendMuslPath(root, all);
}

}  // namespace pawl::host
