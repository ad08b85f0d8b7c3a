#include "kube/frames.h"

namespace pawl::kube {
namespace {

Error TooLarge() {
  return {ErrorKind::kInternal, "the API server sent an object of more than 32 MiB"};
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

void JsonCursor::Step(char c) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return;
  }
  if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
  }
}

Status FrameSplitter::Feed(std::string_view bytes, const Take& take) {
  size_t begin = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool between = cursor_.depth() == 0 && !cursor_.in_string();
    if (between && IsSpace(bytes[i])) {
      begin = i + 1;
      continue;
    }
    if (between) begin = i;
    cursor_.Step(bytes[i]);
    if (cursor_.depth() > 0) continue;
    if (cursor_.depth() < 0 || between) {
      return Fail(ErrorKind::kInternal, "the API server's stream is not a row of JSON objects");
    }
    const std::string_view rest = bytes.substr(begin, i + 1 - begin);
    if (partial_.empty()) {
      take(rest);
    } else {
      partial_ += rest;
      take(partial_);
      partial_ = std::string();  // gives the memory of a large one back
    }
    begin = i + 1;
  }
  if (cursor_.depth() > 0) partial_ += bytes.substr(begin);
  if (partial_.size() > kLargestObject) return Fail(TooLarge());
  return {};
}

// Keeps the key at the list's own level.
void ListSplitter::FollowEnvelope(char c, bool was_in_string, int was_depth) {
  if (was_depth != 1) return;
  if (!was_in_string && c == '"') {
    last_text_.clear();
  } else if (was_in_string && cursor_.in_string()) {
    last_text_ += c;
  } else if (!was_in_string && c == ':') {
    key_ = last_text_;
  } else if (!was_in_string && c == '[' && key_ == "items") {
    in_items_ = true;
  }
}

Status ListSplitter::Feed(std::string_view bytes, const Take& take) {
  constexpr int kItems = 2;  // the depth between items: within the list's object and its array
  size_t begin = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    const int was_depth = cursor_.depth();
    const bool was_in_string = cursor_.in_string();
    cursor_.Step(c);
    if (!in_items_) {
      FollowEnvelope(c, was_in_string, was_depth);
      envelope_ += c;
      continue;
    }
    if (cursor_.depth() < kItems) {  // the array's end
      in_items_ = false;
      envelope_ += c;
    } else if (was_depth == kItems && cursor_.depth() > kItems) {
      begin = i;
    } else if (was_depth > kItems && cursor_.depth() == kItems) {
      const std::string_view rest = bytes.substr(begin, i + 1 - begin);
      if (partial_.empty()) {
        take(rest);
      } else {
        partial_ += rest;
        take(partial_);
        partial_.clear();
      }
    }
  }
  if (in_items_ && cursor_.depth() > kItems) partial_ += bytes.substr(begin);
  if (partial_.size() > kLargestObject || envelope_.size() > kLargestObject) {
    return Fail(TooLarge());
  }
  return {};
}

}  // namespace pawl::kube
