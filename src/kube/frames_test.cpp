#include "kube/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::kube {
namespace {

using ::testing::ElementsAre;

// Feeds the text in two pieces, cut at `cut`.
template <typename Splitter>
std::vector<std::string> FeedCut(Splitter& splitter, std::string_view text, size_t cut) {
  std::vector<std::string> taken;
  const auto take = [&](std::string_view piece) { taken.emplace_back(piece); };
  EXPECT_TRUE(splitter.Feed(text.substr(0, cut), take));
  EXPECT_TRUE(splitter.Feed(text.substr(cut), take));
  return taken;
}

TEST(FrameSplitter, CutsObjectsWhereverTheBytesAreSplit) {
  constexpr std::string_view kText = "{\"a\":\"}{\\\"\\\\\"}\n {\"b\":[{},{}]}{}\n";
  for (size_t cut = 0; cut <= kText.size(); ++cut) {
    FrameSplitter splitter;
    EXPECT_THAT(FeedCut(splitter, kText, cut),
                ElementsAre("{\"a\":\"}{\\\"\\\\\"}", "{\"b\":[{},{}]}", "{}"))
        << "cut at " << cut;
    EXPECT_FALSE(splitter.InFrame());
  }
}

TEST(FrameSplitter, KnowsWhenAFrameIsUnfinished) {
  FrameSplitter splitter;
  EXPECT_TRUE(splitter.Feed("{\"a\":", [](std::string_view) {}));
  EXPECT_TRUE(splitter.InFrame());
}

TEST(FrameSplitter, RefusesWhatIsNoObject) {
  for (const std::string_view text : {"x", "}", "\"{}\"", "12 {}"}) {
    FrameSplitter splitter;
    EXPECT_FALSE(splitter.Feed(text, [](std::string_view) {})) << text;
  }
}

TEST(ListSplitter, CutsItemsWhereverTheBytesAreSplit) {
  constexpr std::string_view kText =
      "{\"kind\":\"items\",\"metadata\":{\"items\":[1],\"continue\":\"\"},\"items\":"
      "[{\"items\":[{}]}, {\"b\":\"]}\"}],\"x\":[{}]}\n";
  for (size_t cut = 0; cut <= kText.size(); ++cut) {
    ListSplitter splitter;
    EXPECT_THAT(FeedCut(splitter, kText, cut), ElementsAre("{\"items\":[{}]}", "{\"b\":\"]}\"}"))
        << "cut at " << cut;
    EXPECT_EQ(splitter.envelope(),
              "{\"kind\":\"items\",\"metadata\":{\"items\":[1],\"continue\":\"\"},\"items\":[],"
              "\"x\":[{}]}\n");
  }
}

TEST(ListSplitter, TakesANullListAsEmpty) {
  ListSplitter splitter;
  EXPECT_THAT(FeedCut(splitter, R"({"items":null,"metadata":{}})", 3), ElementsAre());
  EXPECT_EQ(splitter.envelope(), R"({"items":null,"metadata":{}})");
}

}  // namespace
}  // namespace pawl::kube
