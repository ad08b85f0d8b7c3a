// stand-in-hardware table PROFILE.yaml OUT.cpp      the profile as C++, for libnvidia-ml.so.1
// stand-in-hardware kernel PROFILE.yaml FOLDER      what the kernel would show (kernel_files.h);
// FOLDER is replaced stand-in-hardware driver PROFILE.yaml             prints the driver's version
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.h"
#include "testing/hardware/kernel_files.h"
#include "testing/hardware/profile_yaml.h"
#include "testing/hardware/table.h"

namespace pawl::stand_in {
namespace {

Status Write(const std::filesystem::path& path, const std::string& content) {
  std::error_code ignored;  // the open below reports it
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) return Fail(Error::FromErrno("writing " + path.string()));
  return {};
}

Status WriteKernelFiles(const Profile& profile, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::remove_all(folder, failed);
  if (failed) return Fail(ErrorKind::kIo, "removing " + folder.string() + ": " + failed.message());
  for (const auto& [path, content] : RenderKernelFiles(profile)) {
    if (Status written = Write(folder / path, content); !written) return written;
  }
  for (const Gpu& gpu : profile.gpus) {
    std::filesystem::create_symlink("../../../../bus/pci/drivers/nvidia",
                                    folder / "pci" / SysfsName(gpu) / "driver", failed);
    if (failed)
      return Fail(ErrorKind::kIo,
                  "linking a driver in " + folder.string() + ": " + failed.message());
  }
  return {};
}

Status Run(const std::string& command, const std::string& source, const std::string& out) {
  Result<std::string> text = ReadFile(source);
  if (!text) return Fail(text.error());
  const Result<Profile> profile =
      ParseProfile(std::filesystem::path(source).stem().string(), *text);
  if (!profile) return Fail(profile.error());
  if (command == "table") return Write(out, RenderTable(*profile));
  if (command == "kernel") return WriteKernelFiles(*profile, out);
  if (command == "driver") {
    fmt::print("{}\n", profile->driver);
    return {};
  }
  return Fail(ErrorKind::kInvalid, "no command '" + command + "'");
}

}  // namespace
}  // namespace pawl::stand_in

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "usage: stand-in-hardware table|kernel|driver PROFILE.yaml [OUT]\n");
    return 2;
  }
  const pawl::Status done = pawl::stand_in::Run(argv[1], argv[2], argc == 4 ? argv[3] : "");
  if (done) return 0;
  fmt::print(stderr, "stand-in-hardware: {}\n", done.error().message());
  return 1;
}
