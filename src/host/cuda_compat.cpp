#include "host/cuda_compat.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace pawl::host {
namespace {

constexpr const char* kConfFolder = "/etc/ld.so.conf.d";
constexpr const char* kConf = "00-compat-pawl.conf";
constexpr std::string_view kLibrary = "libcuda.so.";

// Numbers by their value, part after part; what is no number counts as 0.
int CompareVersions(std::string_view a, std::string_view b) {
  const std::vector<std::string> left = Split(a, '.');
  const std::vector<std::string> right = Split(b, '.');
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const uint64_t x = i < left.size() ? ParseUnsigned(left[i]).value_or(0) : 0;
    const uint64_t y = i < right.size() ? ParseUnsigned(right[i]).value_or(0) : 0;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

uint64_t Major(const std::string& version) {
  return ParseUnsigned(version.substr(0, version.find('.'))).value_or(0);
}

struct CompatLibrary {
  std::string version;
  std::optional<CompatNote> note;
};

// The only regular libcuda.so.*.* of the folder; nothing where there is none, or more than one.
std::optional<CompatLibrary> FindCompatLibrary(int folder) {
  const Result<std::vector<std::string>> names = NamesIn(folder);
  if (!names) return std::nullopt;
  std::vector<std::string> found;
  for (const std::string& name : *names) {
    struct stat info {};
    if (!name.starts_with(kLibrary) || name.find('.', kLibrary.size()) == std::string::npos) {
      continue;
    }
    if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode)) {
      found.push_back(name);
    }
  }
  if (found.size() != 1) return std::nullopt;
  const FileDescriptor file(
      openat(folder, found.front().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  return CompatLibrary{found.front().substr(kLibrary.size()), ReadCompatNote(file.get())};
}

Status RemoveOldConf(const ContainerRoot& root) {
  const Result<FileDescriptor> folder = root.OpenFolder(kConfFolder);
  return folder ? RemoveName(folder->get(), kConf) : Status{};
}

}  // namespace

std::optional<CompatNote> ParseCompatNote(std::string_view text) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  const Result<json::value> value = ParseJson(text);
  if (!value) return std::nullopt;
  CompatNote note;
  note.cuda_version = TextAt(*value, {"CUDA Version"});
  const json::value* majors = Find(*value, "Driver");
  const json::value* devices = Find(*value, "Device");
  if (majors == nullptr || !majors->is_array()) return std::nullopt;
  if (devices != nullptr && !devices->is_array()) return std::nullopt;
  for (const json::value& major : majors->get_array()) {
    if (!major.is_int64()) return std::nullopt;
    note.driver_majors.push_back(major.get_int64());
  }
  return note;
}

bool UseCompat(const std::string& compat_version, const std::optional<CompatNote>& note,
               const HostCuda& host) {
  if (host.driver_version.empty() && host.cuda_version.empty()) return false;
  if (!note) {
    return host.cuda_version.empty() && Major(compat_version) > Major(host.driver_version);
  }
  if (host.driver_version.empty())
    return CompareVersions(note->cuda_version, host.cuda_version) > 0;
  const auto major = static_cast<int64_t>(Major(host.driver_version));
  const bool runs = std::find(note->driver_majors.begin(), note->driver_majors.end(), major) !=
                    note->driver_majors.end();
  return runs && CompareVersions(compat_version, host.driver_version) > 0;
}

Status EnableCudaCompat(const ContainerRoot& root, const HostCuda& host,
                        const std::string& compat) {
  const Result<FileDescriptor> folder = root.OpenFolder(compat);
  if (!folder) return RemoveOldConf(root);  // the usual image has none
  const std::optional<CompatLibrary> library = FindCompatLibrary(folder->get());
  if (!library || !UseCompat(library->version, library->note, host)) return RemoveOldConf(root);
  const Result<std::string> real = root.Resolve(compat);
  if (!real) return Fail(real.error());
  if (real->find_first_of("\n#=") != std::string::npos) {
    return Fail(ErrorKind::kInvalid, "the compat folder's name does not fit into ld.so.conf");
  }
  const Result<FileDescriptor> conf = root.MakeFolders(kConfFolder);
  if (!conf) return Fail(conf.error());
  constexpr mode_t kMode = 0644;
  return ReplaceFile(conf->get(), kConf, *real + "\n", kMode);
}

}  // namespace pawl::host
