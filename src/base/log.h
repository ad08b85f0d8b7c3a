// Log lines: one line a change of state, a message that is the same every time, and the particulars
// as fields.
//
//   log::Info("registered with kubelet", {{"resource", name}, {"devices", count}});
//
// goes to standard error as text
//   2026-01-02T03:04:05.678Z info  registered with kubelet resource=nvidia.com/gpu devices=4
// or as one JSON object a line. Safe to call from any thread. Never log a secret.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pawl::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson };

// Sets the process's level and format. Call it once from main, before threads start.
void Configure(Level level, Format format);

struct Field {
  std::string_view key;
  std::string value;

  Field(std::string_view name, std::string_view text) : key(name), value(text) {}
  Field(std::string_view name, const std::string& text) : key(name), value(text) {}
  Field(std::string_view name, const char* text) : key(name), value(text) {}
  Field(std::string_view name, bool flag) : key(name), value(flag ? "true" : "false") {}
  template <std::integral T>
  Field(std::string_view name, T number) : key(name), value(std::to_string(number)) {}
  Field(std::string_view name, double number) : key(name), value(std::to_string(number)) {}
  Field(std::string_view name, const Error& error) : key(name), value(error.message()) {}
};

using Fields = std::initializer_list<Field>;

void Debug(std::string_view message, Fields fields = {});
void Info(std::string_view message, Fields fields = {});
void Warning(std::string_view message, Fields fields = {});
void Failure(std::string_view message, Fields fields = {});  // something is wrong and stays wrong

// The line as it is printed, without time and level; for tests.
std::string Render(Format format, std::string_view message, Fields fields);

}  // namespace pawl::log
