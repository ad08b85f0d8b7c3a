#include "kube/status.h"

#include <gtest/gtest.h>

#include "kube/http_response.h"
#include "kube/retry.h"

namespace pawl::kube {
namespace {

TEST(ApiStatus, IsJudgedByItsReason) {
  const ApiStatus status = ParseStatus(
      409, "PATCH",
      R"({"kind":"Status","reason":"Conflict","message":"m","code":409,"details":{"causes":[)"
      R"({"reason":"FieldManagerConflict","message":"c","field":".spec.replicas"}],)"
      R"("retryAfterSeconds":3}})",
      "");
  EXPECT_EQ(KindOf(status), ErrorKind::kConflict);
  EXPECT_TRUE(status.HasCause("FieldManagerConflict"));
  EXPECT_EQ(status.causes[0].field, ".spec.replicas");
  EXPECT_EQ(status.retry_after, std::chrono::seconds(3));
}

TEST(ApiStatus, IsJudgedByItsCodeWhenTheBodyIsText) {
  EXPECT_EQ(ParseStatus(409, "POST", "text", "").reason, "AlreadyExists");
  EXPECT_EQ(ParseStatus(409, "PUT", "text", "").reason, "Conflict");
  EXPECT_EQ(ParseStatus(502, "GET", "text", "").reason, "InternalError");
  EXPECT_EQ(ParseStatus(502, "GET", "text", "").message, "text");
  EXPECT_EQ(ParseStatus(500, "GET", std::string(5000, 'x'), "").message.size(), 2048U);
}

TEST(ApiStatus, BecomesAKindOfError) {
  const std::tuple<unsigned, ErrorKind> rows[] = {
      {400, ErrorKind::kInvalid},          {401, ErrorKind::kPermission},
      {403, ErrorKind::kPermission},       {404, ErrorKind::kNotFound},
      {405, ErrorKind::kUnsupported},      {410, ErrorKind::kUnavailable},
      {413, ErrorKind::kInvalid},          {415, ErrorKind::kUnsupported},
      {422, ErrorKind::kInvalid},          {429, ErrorKind::kUnavailable},
      {500, ErrorKind::kUnavailable},      {503, ErrorKind::kUnavailable},
      {504, ErrorKind::kDeadlineExceeded},
  };
  for (const auto& [code, kind] : rows) {
    EXPECT_EQ(KindOf(ParseStatus(code, "GET", "", "")), kind) << code;
  }
}

TEST(RetryDelay, ObeysRetryAfterInWholeSeconds) {
  EXPECT_EQ(RetryDelay(ParseStatus(503, "GET", "", "5"), 0, 0.5), Duration(5s));
  EXPECT_EQ(RetryDelay(ParseStatus(500, "GET", "", "5"), 0, 0.5), Duration(5s));
  EXPECT_EQ(ParseStatus(503, "GET", "", "Wed, 21 Oct 2015 07:28:00 GMT").retry_after, std::nullopt);
}

TEST(RetryDelay, GrowsTo30SecondsWithoutRetryAfter) {
  const ApiStatus busy = ParseStatus(503, "GET", "", "");
  EXPECT_EQ(RetryDelay(busy, 0, 1.0), Duration(1s));
  EXPECT_EQ(RetryDelay(busy, 3, 0.5), Duration(4s));
  EXPECT_EQ(RetryDelay(busy, 9, 1.0), Duration(30s));
  EXPECT_EQ(RetryDelay(busy, 10, 1.0), std::nullopt);
}

TEST(RetryDelay, LeavesOtherRefusalsAlone) {
  for (const unsigned code : {400U, 404U, 409U, 422U, 500U, 504U}) {
    EXPECT_EQ(RetryDelay(ParseStatus(code, "GET", "", ""), 0, 0.5), std::nullopt) << code;
  }
}

TEST(WatchDelay, DoublesFrom800MillisecondsTo30Seconds) {
  const Duration expected[] = {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30s, 30s};
  int attempt = 0;
  for (const Duration delay : expected) EXPECT_EQ(WatchDelay(attempt++, 0.0), delay);
  EXPECT_EQ(WatchDelay(0, 0.5), Duration(1200ms));
}

TEST(Warnings, AreReadFromTheirHeader) {
  EXPECT_EQ(ParseWarnings(R"(299 - "unknown field \"spec.foo\"")"),
            std::vector<std::string>{R"(unknown field "spec.foo")"});
  EXPECT_EQ(ParseWarnings(R"(299 - "a, b", 199 - "other", 299 - "c")"),
            (std::vector<std::string>{"a, b", "c"}));
  EXPECT_TRUE(ParseWarnings("nonsense").empty());
}

}  // namespace
}  // namespace pawl::kube
