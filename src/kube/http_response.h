// Reads one HTTP/1.1 response from bytes as they come: Beast's parser with our own ends.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/transport.h"

namespace pawl::kube {

class HttpResponse : public boost::beast::http::basic_parser<false> {
 public:
  HttpResponse();

  HttpHead head;
  std::string body;  // what has come since it was last cleared

 private:
  using ErrorCode = boost::beast::error_code;
  using Field = boost::beast::http::field;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb /*method*/, Text /*name*/, Text /*target*/,
                       int /*version*/, ErrorCode& /*error*/) override {}
  void on_response_impl(int code, Text reason, int version, ErrorCode& error) override;
  void on_field_impl(Field field, Text name, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         ErrorCode& /*error*/) override {}
  std::size_t on_body_impl(Text bytes, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/,
                            ErrorCode& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t remain, Text bytes, ErrorCode& error) override;
  void on_finish_impl(ErrorCode& /*error*/) override {}
};

// The texts of a Warning header (299 - "text", perhaps several), code 299 only.
std::vector<std::string> ParseWarnings(std::string_view header);

}  // namespace pawl::kube
