#include "kube/parse.h"

namespace pawl::kube {

Result<json::value> ParseObject(std::string_view text, json::storage_ptr storage) {
  constexpr size_t kScratch = 4096;
  constexpr size_t kLevels = 512;
  unsigned char scratch[kScratch];
  json::parse_options options;
  options.max_depth = kLevels;
  json::parser parser(json::storage_ptr(), options, scratch, sizeof scratch);
  parser.reset(std::move(storage));
  boost::system::error_code error;
  const size_t taken = parser.write(text.data(), text.size(), error);
  if (error) {
    return Fail(ErrorKind::kInternal, "the API server's answer is not JSON at byte " +
                                          std::to_string(taken) + ": " + error.message());
  }
  return parser.release();
}

}  // namespace pawl::kube
