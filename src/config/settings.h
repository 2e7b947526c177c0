// Edge: every option's value, and where it came from. Precedence: flag, environment, file, default.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/option.h"
#include "model/finding.h"

namespace stoker::config {

enum class OriginKind : std::uint8_t { fallback, file, environment, flag };

// Stable lower-case word; "default" for fallback.
const char* to_string(OriginKind kind);

struct Origin {
  OriginKind kind = OriginKind::fallback;
  std::string where;  // file, variable or flag; "" for a default
  int line = 0;       // in a file; both count from 1
  int column = 0;

  // "stoker.yaml:3:5", "STOKER_LISTEN", "--listen", "".
  [[nodiscard]] std::string text() const;
};

class Settings {
 public:
  Settings();  // all defaults

  [[nodiscard]] const Value& value(OptionId id) const { return slots_.at(index(id)).value; }
  [[nodiscard]] const Origin& origin(OptionId id) const { return slots_.at(index(id)).origin; }
  void set(OptionId id, Value value, Origin origin) {
    slots_.at(index(id)) = {std::move(value), std::move(origin)};
  }

  // The value as the type that the option's row says; anything else is a broken invariant.
  [[nodiscard]] const std::string& text(OptionId id) const {
    return std::get<std::string>(value(id));
  }
  [[nodiscard]] Nanoseconds duration(OptionId id) const { return std::get<Nanoseconds>(value(id)); }
  [[nodiscard]] double number(OptionId id) const { return std::get<double>(value(id)); }
  [[nodiscard]] bool flag(OptionId id) const { return std::get<bool>(value(id)); }
  [[nodiscard]] const std::vector<std::string>& words(OptionId id) const {
    return std::get<std::vector<std::string>>(value(id));
  }

 private:
  struct Slot {
    Value value;
    Origin origin;
  };
  static std::size_t index(OptionId id) { return static_cast<std::size_t>(id); }
  std::array<Slot, option_count> slots_;
};

// What the sources say, unchecked.
struct Inputs {
  std::string file;                                // path; empty: none
  std::optional<std::string> text;                 // what `file` says, where it is not to be read
  std::map<std::string, std::string> environment;  // only names that begin with STOKER_ matter
  std::vector<std::pair<OptionId, std::string>> flags;
  bool is_root = true;  // decides the default of `data`
};

struct Resolved {
  std::optional<Settings> settings;  // absent if any finding is an error
  std::vector<Finding> findings;  // what is wrong, errors and warnings, in the order of the sources
};

// Reads the file, and checks everything that can be checked without starting anything.
Resolved resolve(const Inputs& inputs);

// The options whose values differ.
std::vector<const Option*> changed(const Settings& before, const Settings& after);
// Takes over into `now` what `next` says of options that need no restart; what needs one stays as it was
// when the agent started, and is `changed` until it is restarted.
void take_live(const Settings& next, Settings& now);

// An effective configuration as a config file, each line with where its value came from.
std::string to_yaml(const Settings& settings);
// {"schema":"stoker.dev/v1/option","options":[...]}
std::string to_json(const Settings& settings);

// That the value of this option, wherever it was set, can't be.
Finding wrong_value(const Settings& settings, OptionId id, std::string message, std::string fix);

}  // namespace stoker::config
