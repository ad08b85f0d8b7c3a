#include "base/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace pawl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tcp = asio::ip::tcp;

Task<> Ask(uint16_t port, std::string request, std::string& answer, bool& done) {
  const Executor executor = co_await asio::this_coro::executor;
  tcp::socket socket(executor);
  const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
  co_await socket.async_connect(endpoint, asio::use_awaitable);
  co_await asio::async_write(socket, asio::buffer(request), asio::use_awaitable);
  boost::system::error_code ended;
  co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                            asio::redirect_error(asio::use_awaitable, ended));
  done = true;
}

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.Handle("/healthz", [this] {
      ++asked_;
      return HttpServer::Answer{200, "text/plain", "ok\n"};
    });
    const Status listening = server_.Listen("127.0.0.1:0");
    ASSERT_TRUE(listening) << listening.error().message();
  }

  std::string Answer(std::string request) {
    std::string answer;
    bool done = false;
    Spawn(loop_.get_executor(), "client", Ask(server_.port(), std::move(request), answer, done));
    while (!done && loop_.run_one_for(5s) > 0) {
    }
    return answer;
  }

  asio::io_context loop_;
  HttpServer server_{loop_.get_executor()};
  int asked_ = 0;
};

TEST_F(HttpServerTest, AnswersAKnownPath) {
  const std::string answer = Answer("GET /healthz?verbose HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nok\n"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(HttpServerTest, RefusesOtherPathsAndMethods) {
  EXPECT_THAT(Answer("GET /secret HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Answer("DELETE /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_EQ(asked_, 0);
}

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  HttpServer second(loop_.get_executor());
  const Status taken = second.Listen("127.0.0.1:" + std::to_string(server_.port()));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message(), HasSubstr("Address already in use"));
  EXPECT_FALSE(HttpServer(loop_.get_executor()).Listen("8080"));
  EXPECT_FALSE(HttpServer(loop_.get_executor()).Listen(":80801"));
  EXPECT_TRUE(HttpServer(loop_.get_executor()).Listen("0"));
}

}  // namespace
}  // namespace pawl
