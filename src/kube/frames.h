// Cuts the server's JSON streams into objects without ever holding the stream: a watch is one
// object after the other, a list is one object with the many in `items`. Bytes may be split
// anywhere. Only an object that is cut in two by the network is copied.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::kube {

// Follows JSON byte by byte: how deep we are and whether within a string. Trusts the text to be
// well-formed; the parser finds out if it is not.
class JsonCursor {
 public:
  void Step(char c);
  int depth() const { return depth_; }
  bool in_string() const { return in_string_; }

 private:
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

inline constexpr size_t kLargestObject = size_t{32} << 20;

class FrameSplitter {
 public:
  using Take = std::function<void(std::string_view frame)>;

  // Calls `take` for each object that ends in these bytes. kInternal when an object passes
  // kLargestObject.
  Status Feed(std::string_view bytes, const Take& take);

  bool InFrame() const { return !partial_.empty() || cursor_.depth() > 0; }

 private:
  JsonCursor cursor_;
  std::string partial_;
};

class ListSplitter {
 public:
  using Take = std::function<void(std::string_view item)>;

  Status Feed(std::string_view bytes, const Take& take);

  // The list with `items` empty, when all bytes have been fed.
  const std::string& envelope() const { return envelope_; }

 private:
  void FollowEnvelope(char c, bool was_in_string, int was_depth);

  JsonCursor cursor_;
  std::string envelope_;
  std::string partial_;    // the item that has begun
  std::string last_text_;  // of the envelope's level, to know a key
  std::string key_;
  bool in_items_ = false;
};

}  // namespace pawl::kube
