#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace stoker::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warning: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("stoker",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}

std::string quoted_if_needed(const std::string& value) {
  if (!value.empty() && value.find_first_of(" \"=\n\t") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

void write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (!logger().should_log(to_spdlog(level))) return;
  std::string line(event);
  for (const Field& field : fields) {
    line.append(" ").append(field.key).append("=").append(quoted_if_needed(field.value));
  }
  logger().log(to_spdlog(level), "{}", line);
}

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

}  // namespace stoker::log
