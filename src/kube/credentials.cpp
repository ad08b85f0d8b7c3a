#include "kube/credentials.h"

#include <openssl/evp.h>

#include "base/files.h"
#include "base/text.h"

namespace pawl::kube {
namespace {

constexpr Duration kTokenAge = 50s;
constexpr size_t kLargestToken = 65536;

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

Credentials::Credentials(const ClientConfig& config) : file_(config.token_file) {
  if (!config.token.empty()) {
    header_ = "Bearer " + config.token;
  } else if (!config.username.empty()) {
    header_ = "Basic " + EncodeBase64(config.username + ":" + config.password);
  }
}

Status Credentials::Reload(Time now) {
  const Result<std::string> text = ReadFile(file_, kLargestToken);
  if (!text) return Fail(text.error());
  const std::string_view token = Trim(*text);
  if (token.empty()) return Fail(ErrorKind::kInvalid, file_ + ": the token is empty");
  header_ = "Bearer " + std::string(token);
  read_ = now;
  stale_ = false;
  return {};
}

Result<std::string> Credentials::Header(Time now) {
  if (file_.empty() || (!stale_ && now - read_ < kTokenAge)) return header_;
  const Status read = Reload(now);
  if (!read && header_.empty()) {
    return Fail(ErrorKind::kPermission, "reading the token: " + read.error().message());
  }
  return header_;
}

bool Credentials::Expire() {
  stale_ = true;
  return !file_.empty();
}

}  // namespace pawl::kube
