// Ground stage: the log. An event name and key=value fields on standard error; only log.cpp knows
// which library prints it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace stoker::log {

enum class Level { debug, info, warning, error };

struct Field {
  std::string_view key;
  std::string value;
};

// One line: time level event key=value... Values with spaces are quoted. Safe from any thread.
void write(Level level, std::string_view event, std::initializer_list<Field> fields = {});

inline void debug(std::string_view e, std::initializer_list<Field> f = {}) {
  write(Level::debug, e, f);
}
inline void info(std::string_view e, std::initializer_list<Field> f = {}) {
  write(Level::info, e, f);
}
inline void warning(std::string_view e, std::initializer_list<Field> f = {}) {
  write(Level::warning, e, f);
}
inline void error(std::string_view e, std::initializer_list<Field> f = {}) {
  write(Level::error, e, f);
}

// Lines below `level` are dropped. Default: info.
void set_level(Level level);

}  // namespace stoker::log
