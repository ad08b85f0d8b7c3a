// A folder for one test, removed with all that is in it.
#pragma once

#include <string>
#include <string_view>

namespace pawl {

class TemporaryFolder {
 public:
  TemporaryFolder();  // aborts when /tmp cannot be written
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

  // The full path of `name` in it; the folders above `name` are made.
  std::string Path(std::string_view name) const;

  // Writes a file in it and returns its full path.
  std::string Write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace pawl
