// A folder for one test, removed with everything in it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"

namespace pawl::gpu {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "pawl-gpu-XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string At(std::string_view name) const { return Under(path_, name); }

  void Write(std::string_view name, std::string_view content) const {
    const std::string file = At(name);
    ASSERT_TRUE(MakeFolders(file.substr(0, file.rfind('/'))));
    ASSERT_TRUE(WriteFileAtomic(file, content));
  }
  void Remove(std::string_view name) const { ASSERT_TRUE(RemoveFile(At(name))); }

 private:
  std::string path_;
};

}  // namespace pawl::gpu
