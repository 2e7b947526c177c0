// Catalogue: what the lines without an Xid or SXid number mean (kernel_signs.def).
#pragma once

#include <string_view>
#include <vector>

#include "catalog/level.h"
#include "model/action.h"

namespace stoker {

struct KernelSign {
  std::string_view sign;  // as in Event::sign
  FaultLevel level;
  Action action;
  std::string_view meaning;
  std::string_view source;
};

// nullptr: there is no such sign.
const KernelSign* find_kernel_sign(std::string_view sign);
std::vector<std::string_view> kernel_signs();

}  // namespace stoker
