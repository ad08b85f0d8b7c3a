// Reads the fields of a JSON object by name and type, and remembers which were asked for. What is
// wrong is collected with its path, so that one look shows a user every mistake; what is there but
// nobody asked for becomes a warning.
//
//   Findings findings;
//   FieldReader spec(object, "spec", findings);
//   FieldReader driver = spec.In("driver");
//   policy.driver.enabled = driver.Bool("enabled").value_or(true);
//   driver.ReportUnread({{"kernelModuleType", "auto"}});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace pawl::api {

struct Findings {
  std::vector<std::string> errors;  // "spec.driver.enabled: expected true or false, found \"yes\""
  std::vector<std::string> warnings;  // "spec.driver.args: this version does nothing with it"
};

class FieldReader {
 public:
  // `object` may be null (an absent object: every field is absent) and must outlive the reader.
  FieldReader(const json::value* object, std::string path, Findings& findings);

  // Absent, null or wrong (which is noted): nothing.
  std::optional<bool> Bool(std::string_view key);
  std::optional<int64_t> Integer(std::string_view key);
  std::optional<std::string> OptionalText(std::string_view key);
  std::string Text(std::string_view key, std::string_view otherwise = "");

  // A text out of `choices`; empty counts as absent.
  std::string OneOf(std::string_view key, std::initializer_list<std::string_view> choices,
                    std::string_view otherwise);
  std::vector<std::string> Texts(std::string_view key);
  std::map<std::string, std::string> TextMap(std::string_view key);

  // As they are, for fields that are handed on to Kubernetes.
  json::object Object(std::string_view key);
  json::array Objects(std::string_view key);  // a list of objects

  FieldReader In(std::string_view key);

  bool present() const { return object_ != nullptr; }

  // Marks a field as known without reading it.
  void Known(std::string_view key) { read_.insert(std::string(key)); }

  // A warning for each field that was not asked for and says something: not null, false, 0, empty
  // or the default the API server fills in (`defaults`).
  void ReportUnread(
      std::initializer_list<std::pair<std::string_view, std::string_view>> defaults = {});

 private:
  const json::value* Look(std::string_view key);
  void Wrong(std::string_view key, std::string_view expected, const json::value& found);

  const json::object* object_ = nullptr;
  std::string path_;
  Findings& findings_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace pawl::api
