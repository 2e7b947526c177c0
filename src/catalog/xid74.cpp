#include "catalog/xid74.h"

#include <array>

namespace stoker {
namespace {

constexpr auto xid74_rows = std::to_array<Xid74Reading>({
#define BIT(number) (std::uint32_t{1} << (number))
#define STOKER_XID74(number, bits, reading, action) {number, bits, reading, Action::action},
#include "catalog/xid74.def"
#undef STOKER_XID74
#undef BIT
});

}  // namespace

std::vector<Xid74Reading> read_xid74(std::span<const std::uint32_t> registers) {
  std::vector<Xid74Reading> found;
  int number = 0;
  for (std::uint32_t left : registers) {
    ++number;
    for (const auto& row : xid74_rows) {
      if (row.number != number || (left & row.bits) == 0) continue;
      found.push_back(row);
      found.back().bits &= left;
      left &= ~row.bits;
    }
    if (left != 0) found.push_back({.number = number, .bits = left, .text = "not documented"});
  }
  return found;
}

}  // namespace stoker
