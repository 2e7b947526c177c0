#include "health/measure.h"

#include <algorithm>
#include <cmath>

namespace stoker::health {
namespace {

constexpr std::size_t fewest_others = 2;

bool meets(Relation relation, double value, double limit) {
  switch (relation) {
    case Relation::above: return value > limit;
    case Relation::at_least: return value >= limit;
    case Relation::below: return value < limit;
    case Relation::at_most: return value <= limit;
    default: return false;
  }
}

bool meets(const Condition& condition, double value) {
  const auto whole = std::llround(value);
  const bool one_of = std::ranges::find(condition.values, whole) != condition.values.end();
  const bool any_bit = std::ranges::any_of(condition.values, [&](std::int64_t bits) {
    return (static_cast<std::uint64_t>(whole) & static_cast<std::uint64_t>(bits)) != 0;
  });
  switch (condition.is) {
    case Relation::one_of: return one_of;
    case Relation::none_of: return !one_of;
    case Relation::any_bit: return any_bit;
    case Relation::no_bit: return !any_bit;
    default: return false;
  }
}

Truth truth_of(bool holds) { return holds ? Truth::yes : Truth::no; }

}  // namespace

Measured sum_of(const std::vector<Operand>& operands, const Subject& subject) {
  Measured all{.number = 0, .reason = Reason::ok, .at = {}};
  for (const Operand& operand : operands) {
    const Reading reading = operand.of(subject);
    all.at = std::max(all.at, reading.taken_at);
    if (!reading.ok()) {
      all.number.reset();
      all.reason = reading.reason;
    } else if (all.number) {
      *all.number += as_double(reading.value);
    }
  }
  if (all.number && !std::isfinite(*all.number)) {
    all.number.reset();
    all.reason = Reason::invalid;
  }
  return all;
}

Measured limit_of(const Limit& limit, const Subject& subject) {
  if (!limit.of) return {.number = limit.offset, .reason = Reason::ok, .at = {}};
  const Reading reading = limit.of->of(subject);
  if (!reading.ok()) return {.number = {}, .reason = reading.reason, .at = reading.taken_at};
  return {.number = as_double(reading.value) * limit.times + limit.offset,
          .reason = Reason::ok,
          .at = reading.taken_at};
}

Truth compare(const Condition& condition, const Measured& value, const Measured& limit) {
  if (!value.number) return Truth::unknown;
  if (!is_ordering(condition.is)) return truth_of(meets(condition, *value.number));
  if (!limit.number) return Truth::unknown;
  return truth_of(meets(condition.is, *value.number, *limit.number));
}

Truth meanwhile(const Check& check, const Subject& subject) {
  Truth all = Truth::yes;
  for (const Condition& condition : check.meanwhile) {
    all = both(all, compare(condition, sum_of(condition.operands, subject),
                            limit_of(condition.limit, subject)));
  }
  return all;
}

bool applies_to(const Check& check, const store::GpuSnapshot& gpu) {
  const auto& architectures = check.architectures;
  if (!architectures.empty() &&
      std::ranges::find(architectures, gpu.info.architecture) == architectures.end()) {
    return false;
  }
  return check.products.empty() ||
         std::ranges::any_of(check.products, [&](const std::string& part) {
           return gpu.info.name.find(part) != std::string::npos;
         });
}

std::optional<double> median_of_others(const std::vector<double>& sorted, double own) {
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(sorted, own) - sorted.begin());
  const std::size_t others =
      sorted.size() - (place < sorted.size() && sorted[place] == own ? 1 : 0);
  if (others < fewest_others) return std::nullopt;
  const bool skips = others < sorted.size();
  const auto other = [&](std::size_t n) { return sorted[skips && n >= place ? n + 1 : n]; };
  return (other((others - 1) / 2) + other(others / 2)) / 2;
}

}  // namespace stoker::health
