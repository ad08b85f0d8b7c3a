// What this room's tests share.
#pragma once

#include <gtest/gtest.h>

#include "compat/resolve.h"

namespace pawl::compat {

// The built-in rows, loaded once for a test program.
inline const KnowledgeBase& BuiltInForTests() {
  static const Result<KnowledgeBase> kKnowledge = KnowledgeBase::BuiltIn();
  if (!kKnowledge) {
    ADD_FAILURE() << kKnowledge.error().message();
    abort();
  }
  return *kKnowledge;
}

// An input of §2 written as JSON, today being 2026-12-01.
inline Input InputOf(std::string_view text) {
  Result<json::value> value = ParseJson(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message());
  Result<Input> input = ParseInput(value ? *value : json::value(json::object()));
  EXPECT_TRUE(input) << text << ": " << (input ? "" : input.error().message());
  Input parsed = input ? *input : Input{};
  if (parsed.today.empty()) parsed.today = "2026-12-01";
  return parsed;
}

inline Answer Ask(std::string_view text) { return Resolve(BuiltInForTests(), InputOf(text)); }

}  // namespace pawl::compat
