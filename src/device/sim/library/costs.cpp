#include "device/sim/library/costs.h"

namespace stoker::sim {
namespace {

struct Cost {
  std::uint32_t key;
  std::uint32_t microseconds;
};

constexpr Cost call_costs[] = {
#define STOKER_COST(symbol, us) {name_hash(#symbol), us},
#define STOKER_FIELD_COST(id, us)
#include "device/sim/library/costs.def"
#undef STOKER_FIELD_COST
#undef STOKER_COST
};

constexpr Cost field_costs[] = {
#define STOKER_COST(symbol, us)
#define STOKER_FIELD_COST(id, us) {id, us},
#include "device/sim/library/costs.def"
#undef STOKER_FIELD_COST
#undef STOKER_COST
};

template <std::size_t size>
std::uint64_t find(const Cost (&costs)[size], std::uint32_t key) {
  for (const Cost& cost : costs) {
    if (cost.key == key) return std::uint64_t{cost.microseconds} * 1000;
  }
  return 0;
}

}  // namespace

std::uint64_t cost_of(const Function& function) { return find(call_costs, function.hash); }
std::uint64_t cost_of_field(std::uint32_t field_id) { return find(field_costs, field_id); }

}  // namespace stoker::sim
