#include "kube/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::value Pod(const std::string& name, const std::string& uid, const std::string& phase) {
  return {{"metadata", {{"namespace", "g"}, {"name", name}, {"uid", uid}}},
          {"status", {{"phase", phase}}}};
}

Result<std::string> Phase(const json::value& object) {
  std::string phase = TextAt(object, {"status", "phase"});
  if (phase == "bad") return Fail(ErrorKind::kInvalid, "phase: bad");
  return phase;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest()
      : store_(Phase, [this](const Store<std::string>::Change& change) {
          changes_.push_back(change.key.Text() + " " + (change.before ? *change.before : "-") +
                             ">" + (change.after ? *change.after : "-"));
        }) {}

  std::vector<std::string> Changes() { return std::exchange(changes_, {}); }
  void Replace(const std::vector<json::value>& objects) {
    store_.BeginReplace();
    for (const json::value& object : objects) store_.ReplaceItem(object);
    store_.EndReplace("10");
  }

  std::vector<std::string> changes_;
  Store<std::string> store_;
};

TEST_F(StoreTest, IsSyncedByTheFirstWholeState) {
  EXPECT_FALSE(store_.synced());
  Replace({Pod("a", "1", "x"), Pod("b", "2", "y")});
  EXPECT_TRUE(store_.synced());
  EXPECT_THAT(Changes(), ElementsAre("g/a ->x", "g/b ->y"));
}

TEST_F(StoreTest, HearsOnlyWhatAListChanges) {
  Replace({Pod("a", "1", "x"), Pod("b", "2", "y"), Pod("c", "3", "z")});
  Changes();
  Replace({Pod("a", "1", "x"), Pod("b", "2", "new")});
  EXPECT_THAT(Changes(), ElementsAre("g/c z>-", "g/b y>new"));
}

TEST_F(StoreTest, HearsAReplacedObjectAsGoneThenNew) {
  Replace({Pod("a", "1", "x")});
  Changes();
  Replace({Pod("a", "2", "x")});
  EXPECT_THAT(Changes(), ElementsAre("g/a x>-", "g/a ->x"));
}

TEST_F(StoreTest, IgnoresAnEventThatLeavesTheProjectionEqual) {
  store_.Upsert(Pod("a", "1", "x"));
  Changes();
  const auto before = store_.Get(ObjectKey{"g", "a"});
  store_.Upsert(Pod("a", "1", "x"));
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(store_.Get(ObjectKey{"g", "a"}), before);
}

TEST_F(StoreTest, KeepsTheLastGoodStateOfWhatCannotBeRead) {
  Replace({Pod("a", "1", "x")});
  Changes();
  store_.Upsert(Pod("a", "1", "bad"));
  Replace({Pod("a", "1", "bad"), Pod("b", "2", "bad")});
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_EQ(store_.size(), 1U);
}

TEST_F(StoreTest, SharesWhatASnapshotSaw) {
  Replace({Pod("a", "1", "x")});
  const auto snapshot = store_.Snapshot();
  store_.Remove(Pod("a", "1", "x"));
  EXPECT_EQ(store_.size(), 0U);
  ASSERT_EQ(snapshot.size(), 1U);
  EXPECT_EQ(*snapshot[0], "x");
}

TEST_F(StoreTest, AbandonsAListThatBrokeOff) {
  store_.BeginReplace();
  store_.ReplaceItem(Pod("a", "1", "x"));
  Replace({Pod("b", "2", "y")});
  EXPECT_THAT(Changes(), ElementsAre("g/b ->y"));
}

json::value At(json::value object, const std::string& version) {
  object.at("metadata").as_object()["resourceVersion"] = version;
  return object;
}

TEST_F(StoreTest, TakesAnAnswerThatIsAheadOfTheWatch) {
  Replace({At(Pod("a", "1", "x"), "9")});
  Changes();
  store_.TakeAnswer(At(Pod("a", "1", "y"), "11"));
  EXPECT_THAT(Changes(), ElementsAre("g/a x>y"));
  store_.Upsert(At(Pod("a", "1", "x"), "10"));  // from before our write
  EXPECT_THAT(Changes(), IsEmpty());
  store_.Upsert(At(Pod("a", "1", "z"), "12"));
  EXPECT_THAT(Changes(), ElementsAre("g/a y>z"));
}

TEST_F(StoreTest, IgnoresAnAnswerThatTheWatchHasOvertaken) {
  Replace({At(Pod("a", "1", "x"), "9")});
  store_.Upsert(At(Pod("a", "1", "newer"), "101"));
  Changes();
  store_.TakeAnswer(At(Pod("a", "1", "older"), "99"));
  store_.TakeAnswer(At(Pod("a", "2", "another's"), "102"));
  store_.TakeAnswer(Pod("a", "1", "without a version"));
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(StoreTest, AnAnswerDoesNotBringBackWhatWasDeleted) {
  Replace({At(Pod("a", "1", "x"), "9")});
  store_.Remove(At(Pod("a", "1", "x"), "12"));
  Changes();
  store_.TakeAnswer(At(Pod("a", "1", "y"), "11"));
  EXPECT_THAT(Changes(), IsEmpty());
  Replace({At(Pod("b", "2", "x"), "13")});
  Replace({});
  Changes();
  store_.TakeAnswer(At(Pod("b", "2", "y"), "8"));  // before the list that lacks it
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(StoreTest, TakesTheAnswerThatMadeAnObject) {
  Replace({});
  store_.TakeAnswer(At(Pod("a", "1", "x"), "11"));
  EXPECT_THAT(Changes(), ElementsAre("g/a ->x"));
}

TEST_F(StoreTest, BelievesAListEvenWhereVersionsWentBack) {
  Replace({At(Pod("a", "1", "x"), "900")});
  Changes();
  Replace({At(Pod("a", "1", "restored"), "7")});
  store_.Upsert(At(Pod("a", "1", "y"), "11"));
  EXPECT_THAT(Changes(), ElementsAre("g/a x>restored", "g/a restored>y"));
}

TEST(IsLater, ComparesNumbersOnly) {
  EXPECT_TRUE(IsLater("10", "9"));
  EXPECT_TRUE(IsLater("11", "10"));
  EXPECT_FALSE(IsLater("10", "10"));
  EXPECT_FALSE(IsLater("9", "10"));
  EXPECT_FALSE(IsLater("", "1"));
  EXPECT_FALSE(IsLater("2", ""));
  EXPECT_FALSE(IsLater("b", "a"));
}

TEST(KeepWhole, LeavesOutManagedFieldsOnly) {
  const json::value object = {
      {"metadata", {{"name", "a"}, {"managedFields", {1, 2}}, {"labels", {{"x", "y"}}}}},
      {"spec", {{"managedFields", 1}}}};
  EXPECT_EQ(ToJson(*KeepWhole(object)),
            R"({"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"managedFields":1}})");
}

}  // namespace
}  // namespace pawl::kube
