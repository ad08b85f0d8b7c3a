// The files by which third parties learn that a stage is ready (spec/operator.md §10, §11). Written
// atomically; a stage clears its file whenever it is not ready. When the agent ends, plugin-ready
// goes, since nobody answers kubelet then; the others stay: the driver and the hooks work without
// us. The next agent clears all of them and finds out anew.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::agent {

class ValidationFiles {
 public:
  explicit ValidationFiles(const std::string& run_dir) : folder_(run_dir + "/validations") {}

  // Makes the folder and removes what an earlier run of ours left: each check begins without its
  // file.
  Status Begin();

  // `name` is "driver-ready", "toolkit-ready" or "plugin-ready".
  Status Set(std::string_view name, std::string_view content);
  Status Clear(std::string_view name);

 private:
  std::string folder_;
};

}  // namespace pawl::agent
