#include "catalog/kernel_sign.h"

#include <algorithm>
#include <array>

namespace stoker {
namespace {

constexpr auto sign_rows = std::to_array<KernelSign>({
#define STOKER_KERNEL_SIGN(sign, level, action, meaning, source) \
  {#sign, FaultLevel::level, Action::action, meaning, source},
#include "catalog/kernel_signs.def"
#undef STOKER_KERNEL_SIGN
});

}  // namespace

const KernelSign* find_kernel_sign(std::string_view sign) {
  const auto* row = std::ranges::find(sign_rows, sign, &KernelSign::sign);
  return row == sign_rows.end() ? nullptr : row;
}

std::vector<std::string_view> kernel_signs() {
  std::vector<std::string_view> signs;
  signs.reserve(sign_rows.size());
  for (const auto& row : sign_rows) signs.push_back(row.sign);
  return signs;
}

}  // namespace stoker
