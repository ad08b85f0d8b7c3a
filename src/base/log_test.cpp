#include "base/log.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/json.h"

namespace pawl {
namespace {

TEST(Log, TextQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(log::Render(log::Format::kText, "a thing happened",
                        {{"path", "/a"}, {"error", "no such file"}, {"count", 3}, {"empty", ""}}),
            "a thing happened path=/a error=\"no such file\" count=3 empty=\"\"");
}

TEST(Log, JsonEscapesValues) {
  const std::string line = "{" + log::Render(log::Format::kJson, "m", {{"k", "a\"b\nc"}}) + "}";
  EXPECT_EQ(ParseJson(line).value().at("k"), json::value("a\"b\nc")) << line;
}

TEST(Clock, WritesKubernetesTimes) {
  const WallTime time = WallTime(std::chrono::microseconds(1767323045006007));
  EXPECT_EQ(ToRfc3339(time), "2026-01-02T03:04:05Z");
  EXPECT_EQ(ToRfc3339Micro(time), "2026-01-02T03:04:05.006007Z");
}

}  // namespace
}  // namespace pawl
