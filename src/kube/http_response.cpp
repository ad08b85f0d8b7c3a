#include "kube/http_response.h"

namespace pawl::kube {

HttpResponse::HttpResponse() {
  eager(true);
  body_limit(boost::none);  // whoever reads the body bounds it
  constexpr unsigned kLargestHead = 16384;
  header_limit(kLargestHead);
}

void HttpResponse::on_response_impl(int code, Text /*reason*/, int /*version*/,
                                    ErrorCode& /*error*/) {
  head.code = static_cast<unsigned>(code);
}

void HttpResponse::on_field_impl(Field field, Text /*name*/, Text value, ErrorCode& /*error*/) {
  if (field == Field::retry_after) {
    head.retry_after = std::string(value.data(), value.size());
  } else if (field == Field::content_type) {
    head.content_type = std::string(value.data(), value.size());
  } else if (field == Field::warning) {
    for (std::string& text : ParseWarnings({value.data(), value.size()})) {
      head.warnings.push_back(std::move(text));
    }
  }
}

std::size_t HttpResponse::on_body_impl(Text bytes, ErrorCode& /*error*/) {
  body.append(bytes.data(), bytes.size());
  return bytes.size();
}

std::size_t HttpResponse::on_chunk_body_impl(std::uint64_t /*remain*/, Text bytes,
                                             ErrorCode& error) {
  return on_body_impl(bytes, error);
}

std::vector<std::string> ParseWarnings(std::string_view header) {
  std::vector<std::string> texts;
  size_t at = 0;
  while (true) {
    const size_t open = header.find('"', at);
    if (open == std::string_view::npos) return texts;
    const std::string_view before = header.substr(at, open - at);
    const size_t code = before.find_first_not_of(", ");
    const bool ours = code != std::string_view::npos && before.substr(code).starts_with("299 ");
    std::string text;
    size_t i = open + 1;
    for (; i < header.size() && header[i] != '"'; ++i) {
      if (header[i] == '\\' && i + 1 < header.size()) ++i;
      text += header[i];
    }
    if (ours) texts.push_back(std::move(text));
    at = i + 1;
    if (at >= header.size()) return texts;
  }
}

}  // namespace pawl::kube
