// The Authorization header: a token that its file may replace at any time, or a name and password.
#pragma once

#include <string>

#include "base/result.h"
#include "base/task.h"
#include "kube/config.h"

namespace pawl::kube {

class Credentials {
 public:
  explicit Credentials(const ClientConfig& config);

  // "Bearer …", "Basic …", or empty. A token file is read again when what we have is 50 s old; on
  // failure the last token stays. kPermission when there never was one.
  Result<std::string> Header(Time now);

  // After a 401: the next Header reads the file again. False when there is nothing to read again.
  bool Expire();

 private:
  Status Reload(Time now);

  std::string file_;
  std::string header_;
  Time read_{};
  bool stale_ = true;
};

std::string EncodeBase64(std::string_view bytes);

}  // namespace pawl::kube
