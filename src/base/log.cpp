#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/json.h"

namespace pawl::log {
namespace {

struct Logger {
  std::shared_ptr<spdlog::logger> sink =
      std::make_shared<spdlog::logger>("pawl", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  Format format = Format::kText;
  Logger() { Use(Format::kText); }

  void Use(Format chosen) {
    format = chosen;
    sink->set_pattern(chosen == Format::kText
                          ? "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v"
                          : R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
                      spdlog::pattern_time_type::utc);
    sink->flush_on(spdlog::level::trace);
  }
};

Logger& TheLogger() {
  static Logger logger;
  return logger;
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"=\n\t\\") != std::string_view::npos;
}

void Write(spdlog::level::level_enum level, std::string_view message, Fields fields) {
  Logger& logger = TheLogger();
  if (!logger.sink->should_log(level)) return;
  logger.sink->log(level, spdlog::string_view_t(Render(logger.format, message, fields)));
}

}  // namespace

void Configure(Level level, Format format) {
  Logger& logger = TheLogger();
  logger.Use(format);
  switch (level) {
    case Level::kDebug:
      return logger.sink->set_level(spdlog::level::debug);
    case Level::kInfo:
      return logger.sink->set_level(spdlog::level::info);
    case Level::kWarning:
      return logger.sink->set_level(spdlog::level::warn);
    case Level::kError:
      return logger.sink->set_level(spdlog::level::err);
  }
}

std::string Render(Format format, std::string_view message, Fields fields) {
  std::string line;
  if (format == Format::kJson) {
    line = "\"message\":" + json::serialize(json::string(message));
    for (const Field& field : fields) {
      line += "," + json::serialize(json::string(field.key)) + ":" +
              json::serialize(json::string(field.value));
    }
    return line;
  }
  line = message;
  for (const Field& field : fields) {
    line += " " + std::string(field.key) + "=";
    line += NeedsQuotes(field.value) ? json::serialize(json::string(field.value)) : field.value;
  }
  return line;
}

void Debug(std::string_view message, Fields fields) {
  Write(spdlog::level::debug, message, fields);
}
void Info(std::string_view message, Fields fields) { Write(spdlog::level::info, message, fields); }
void Warning(std::string_view message, Fields fields) {
  Write(spdlog::level::warn, message, fields);
}
void Failure(std::string_view message, Fields fields) {
  Write(spdlog::level::err, message, fields);
}

}  // namespace pawl::log
