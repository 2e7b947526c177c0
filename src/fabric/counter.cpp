#include "fabric/counter.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::fabric {
namespace {

constexpr std::array<CounterRow, counter_count> rows = {{
#define STOKER_FABRIC_COUNTER(name, bit, width, wide_bit, group, tells, too_many, words) \
  {CounterId::name,     #name,    bit,  width, wide_bit, CounterGroup::group,            \
   CounterTells::tells, too_many, words},
#include "fabric/counters.def"
#undef STOKER_FABRIC_COUNTER
}};

std::uint64_t highest(unsigned bits) {
  return bits >= wide_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

}  // namespace

const std::array<CounterRow, counter_count>& counter_rows() { return rows; }

const CounterRow& row_of(CounterId id) { return rows.at(static_cast<std::size_t>(id)); }

std::optional<CounterId> counter_of(std::string_view name) {
  const auto* const found = std::ranges::find(rows, name, &CounterRow::name);
  if (found == rows.end()) return std::nullopt;
  return found->id;
}

bool CounterReading::full() const { return value >= highest(bits); }

Counted counted_between(const CounterReading& before, const CounterReading& now) {
  // Whether it was cleared or went round: what it shows now came since.
  if (now.value < before.value) return {.least = now.value, .exact = false, .fell = true};
  Counted counted{.least = now.value - before.value};
  counted.exact = !now.full();
  counted.blind = now.full() && before.full();
  return counted;
}

std::string amount(const Counted& counted) {
  return fmt::format("{}{}", counted.exact && !counted.fell ? "" : "at least ", counted.least);
}

}  // namespace stoker::fabric
