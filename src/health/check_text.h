// Health stage: what a check says to people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "health/check.h"
#include "health/measure.h"
#include "model/unit.h"

namespace stoker::health {

// "{name}", "{value}", ...: what a message may hold.
const std::vector<std::string>& placeholders();
// The first thing in braces that is none of them.
std::optional<std::string> wrong_placeholder(const std::string& message);

// Of the number that the check compares: percent for a rate of nanoseconds.
Unit unit_of(const Check& check);
// "91 C", "0.4 %", "7.5 GiB".
std::string with_unit(double number, Unit unit);

// What the check last saw of one subject while the condition held.
struct Seen {
  double value = 0;
  std::optional<double> limit;
  Reason reason = Reason::ok;  // of an absence
  std::string work;            // CardWork::story
};
std::string message_of(const Check& check, const std::string& name, const Seen& seen);

// "at least 89 C": what is compared with, in words; without the number where it is a card's own.
std::string condition_text(const Check& check, const Condition& condition);
// "temperature at least this card's slowdown_celsius, for 10 s": the whole of a check in one line.
std::string rule_text(const Check& check);

// A line for each operand: "temperature = 91 C, read 0.4 s ago"; or why it is not known.
void tell_readings(const Check& check, const Subject& subject, MonotonicTime now,
                   std::vector<std::string>& out);
// What state the condition is in: what is held against the durations. "held for 4 s of 1 min".
std::string progress(const Check& check, const Hold& hold);
// "limit: at least 89 C, this card's slowdown_celsius".
std::string limit_line(const Check& check, const Seen& seen);

}  // namespace stoker::health
