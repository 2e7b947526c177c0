#include "health/check_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <string_view>

#include "base/duration.h"
#include "base/text.h"
#include "fabric/node_ports.h"

namespace stoker::health {
namespace {

std::string_view words_of(Relation relation) {
  switch (relation) {
    case Relation::above: return "above";
    case Relation::at_least: return "at least";
    case Relation::below: return "below";
    case Relation::at_most: return "at most";
    case Relation::one_of: return "one of";
    case Relation::none_of: return "none of";
    case Relation::any_bit: return "with a bit of";
    case Relation::no_bit: return "with no bit of";
  }
  return "above";
}

bool has_bits(Relation relation) {
  return relation == Relation::any_bit || relation == Relation::no_bit;
}

// Two digits after the point at most, and none that say nothing.
std::string short_number(double number) {
  constexpr double exact = 1e15;
  if (number == std::floor(number) && std::abs(number) < exact)
    return fmt::format("{:.0f}", number);
  return fmt::format("{:.3g}", number);
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double step = 1024;
  std::size_t unit = 0;
  while (std::abs(bytes) >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return fmt::format("{} {}", short_number(bytes), units.at(unit));
}

std::string value_text(const Check& check, double value) {
  if (has_bits(check.condition.is)) return fmt::format("{:#x}", std::llround(value));
  return with_unit(value, unit_of(check));
}

std::string operands_text(const std::vector<Operand>& operands) {
  std::vector<std::string_view> names;
  names.reserve(operands.size());
  for (const Operand& operand : operands) names.push_back(operand.name);
  return fmt::format("{}", fmt::join(names, " + "));
}

std::string owner_of(const Operand& operand) {
  if (!operand.field) return fmt::format("this card's {}", operand.name);
  return std::string(operand.name);
}

// "this card's slowdown_celsius", "0.5 x max_sm_clock_mhz", "data_disk_total - 5".
std::string formula(const Limit& limit) {
  std::string text = owner_of(*limit.of);
  if (limit.times != 1) text = fmt::format("{} x {}", short_number(limit.times), text);
  if (limit.offset > 0) text += " + " + short_number(limit.offset);
  if (limit.offset < 0) text += " - " + short_number(-limit.offset);
  return text;
}

std::string set_text(const Condition& condition) {
  std::vector<std::string> words;
  words.reserve(condition.values.size());
  for (const std::int64_t value : condition.values) {
    words.push_back(has_bits(condition.is) ? fmt::format("{:#x}", value) : std::to_string(value));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// What is compared: "temperature", "pcie_replays within 1m", "Xid 48, 94 within 1d".
std::string subject_text(const Check& check) {
  std::string names = operands_text(check.condition.operands);
  const std::string window = " within " + duration_text(check.window);
  switch (check.kind) {
    case CheckKind::rate:
      if (unit_of(check) == Unit::percent) return names + ", share of the time," + window;
      return "rise of " + names + window;
    case CheckKind::delta:
      return fmt::format("change of {} since {}", names,
                         check.since == Since::first ? "it was first seen" : "the reading before");
    case CheckKind::peers:
      return fmt::format("{}{} less the {} median", names,
                         check.window > Nanoseconds{0} ? window : "",
                         check.among == Among::job ? "same job's others'" : "others'");
    case CheckKind::frequency: return fmt::format("Xid {}{}", fmt::join(check.xids, ", "), window);
    default: return names;
  }
}

// "symbol_error at least 10 or port_rcv_errors at least 10, within 5m"; of what one look shows its title.
std::string port_text(const Check& check) {
  std::vector<std::string> limits;
  for (const auto& [counter, least] : fabric::limits_of(check.id))
    limits.push_back(fmt::format("{} at least {}", counter, least));
  std::string text = limits.empty() ? check.title : fmt::format("{}", fmt::join(limits, " or "));
  if (check.window > Nanoseconds{0}) text += ", within " + duration_text(check.window);
  if (check.holds_for > Nanoseconds{0}) text += ", for " + duration_text(check.holds_for);
  if (check.consecutive > 1) text += fmt::format(", at {} looks in a row", check.consecutive);
  return text;
}

}  // namespace

const std::vector<std::string>& placeholders() {
  static const std::vector<std::string> all = {"{name}",   "{value}",  "{limit}",
                                               "{reason}", "{window}", "{work}"};
  return all;
}

std::optional<std::string> wrong_placeholder(const std::string& message) {
  std::string rest = message;
  for (const std::string& known : placeholders()) replace_all(rest, known, "");
  const auto open = rest.find_first_of("{}");
  if (open == std::string::npos) return std::nullopt;
  return rest.substr(open, rest.find('}', open) - open + 1);
}

Unit unit_of(const Check& check) {
  if (check.condition.operands.empty()) return Unit::none;
  const Unit unit = check.condition.operands.front().unit;
  const bool share = check.kind == CheckKind::rate && unit == Unit::nanoseconds;
  return share ? Unit::percent : unit;
}

std::string with_unit(double number, Unit unit) {
  if (unit == Unit::bytes) return bytes_text(number);
  const std::string_view word = symbol(unit);
  return word.empty() ? short_number(number) : fmt::format("{} {}", short_number(number), word);
}

std::string message_of(const Check& check, const std::string& name, const Seen& seen) {
  std::string text = check.message;
  replace_all(text, "{value}", value_text(check, seen.value));
  replace_all(text, "{limit}", seen.limit ? with_unit(*seen.limit, unit_of(check)) : "");
  replace_all(text, "{reason}", describe(seen.reason));
  replace_all(text, "{window}", duration_text(check.window));
  replace_all(text, "{name}", name);
  replace_all(text, "{work}", seen.work);
  return text;
}

std::string condition_text(const Check& check, const Condition& condition) {
  if (!is_ordering(condition.is)) {
    return fmt::format("{} {}", words_of(condition.is), set_text(condition));
  }
  const Unit unit = &condition == &check.condition ? unit_of(check)
                    : condition.operands.empty()   ? Unit::none
                                                   : condition.operands.front().unit;
  return fmt::format(
      "{} {}", words_of(condition.is),
      condition.limit.of ? formula(condition.limit) : with_unit(condition.limit.offset, unit));
}

std::string rule_text(const Check& check) {
  if (check.kind == CheckKind::port) return port_text(check);
  std::string text = subject_text(check);
  if (check.kind == CheckKind::absence) {
    std::vector<std::string_view> words;
    words.reserve(check.reasons.size());
    for (const Reason reason : check.reasons) words.emplace_back(to_string(reason));
    text += fmt::format(" not known: {}", fmt::join(words, ", "));
  } else {
    text += " " + condition_text(check, check.condition);
  }
  if (check.scope == EntityKind::node &&
      check.condition.operands.front().entity == EntityKind::gpu) {
    text += ", of all GPUs";
  }
  for (const Condition& condition : check.meanwhile) {
    text += fmt::format(", while {} is {}", operands_text(condition.operands),
                        condition_text(check, condition));
  }
  if (check.holds_for > Nanoseconds{0}) text += ", for " + duration_text(check.holds_for);
  if (check.consecutive > 1) text += fmt::format(", in {} readings in a row", check.consecutive);
  return text;
}

void tell_readings(const Check& check, const Subject& subject, MonotonicTime now,
                   std::vector<std::string>& out) {
  const auto tell = [&](const Condition& condition) {
    for (const Operand& operand : condition.operands) {
      const Reading reading = operand.of(subject);
      if (!reading.ok()) {
        out.push_back(fmt::format("{} is not known: {}", operand.name, describe(reading.reason)));
        continue;
      }
      const std::string value = has_bits(condition.is)
                                    ? fmt::format("{:#x}", std::llround(as_double(reading.value)))
                                    : with_unit(as_double(reading.value), operand.unit);
      out.push_back(fmt::format("{} = {}, read {} ago", operand.name, value,
                                format_duration(now - reading.taken_at)));
    }
  };
  tell(check.condition);
  for (const Condition& condition : check.meanwhile) tell(condition);
}

std::string progress(const Check& check, const Hold& hold) {
  if (hold.truth() == Truth::unknown) {
    return fmt::format("not known now, for {}", format_duration(hold.unknown_for()));
  }
  if (hold.truth() == Truth::no) {
    return fmt::format("no longer so, for {} of {}", format_duration(hold.cleared_for()),
                       format_duration(check.clear_for));
  }
  std::string text = "held for " + format_duration(hold.held());
  if (hold.suspect()) {
    text += fmt::format(" of {}", format_duration(check.holds_for));
    if (check.consecutive > 1) {
      text += fmt::format(", in {} of {} readings", hold.readings(), check.consecutive);
    }
  }
  return text;
}

std::string limit_line(const Check& check, const Seen& seen) {
  const Condition& condition = check.condition;
  if (!is_ordering(condition.is)) {
    return fmt::format("compared: {}, from {}", condition_text(check, condition), check.file);
  }
  const std::string number =
      seen.limit ? with_unit(*seen.limit, unit_of(check)) : std::string("not known");
  return fmt::format(
      "limit: {} {}, {}", words_of(condition.is), number,
      condition.limit.of ? formula(condition.limit) : "from " + condition.limit.place);
}

}  // namespace stoker::health
