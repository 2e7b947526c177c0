// Catalogue: what the registers of an Xid 74, an NVLink error of A100 and H100, say (xid74.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/action.h"

namespace stoker {

struct Xid74Reading {
  int number = 0;          // of the register, 1 for the first
  std::uint32_t bits = 0;  // that are set in it and mean this
  std::string_view text;
  Action action = Action::contact_vendor;
};

// One reading a row of the table that has a bit set, and one for the bits of a register that no row has: those are
// "not documented", and the vendor's matter.
std::vector<Xid74Reading> read_xid74(std::span<const std::uint32_t> registers);

}  // namespace stoker
