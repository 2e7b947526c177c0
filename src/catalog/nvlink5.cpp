// What the words of NVLink 5's Xids say (nvlink5.def).
#include <algorithm>
#include <array>

#include "catalog/xid.h"

namespace stoker {
namespace {

constexpr std::uint32_t any_status = 0xdead'0000;  // no status that the table has

constexpr auto nvlink5_rows = std::to_array<Nvlink5Row>({
#define STOKER_NVLINK5(xid, unit, keep1, want1, keep2, want2, status, action, immediate, promoted, \
                       then, severity, where)                                                      \
  {xid,       unit,     keep1, want1,    keep2, want2, status, Action::action,                     \
   immediate, promoted, then,  severity, where},
#include "catalog/nvlink5.def"
#undef STOKER_NVLINK5
});

}  // namespace

const Nvlink5Row* read_nvlink5(std::uint32_t xid, std::uint32_t intr_info, std::uint32_t status,
                               const std::optional<DriverVersion>& driver) {
  // NVIDIA's workbook: version 2 of the decoding from R575 on.
  const bool first_too = !driver || *driver < DriverVersion{{575, 0, 0}};
  const bool second_too = !driver || !first_too;
  const auto find = [&](auto keep, auto want) -> const Nvlink5Row* {
    const auto* row = std::ranges::find_if(nvlink5_rows, [&](const Nvlink5Row& each) {
      return each.xid == xid && (intr_info & each.*keep) == each.*want &&
             (each.status == any_status || each.status == status);
    });
    return row == nvlink5_rows.end() ? nullptr : row;
  };
  const Nvlink5Row* row = second_too ? find(&Nvlink5Row::keep2, &Nvlink5Row::want2) : nullptr;
  if (row == nullptr && first_too) row = find(&Nvlink5Row::keep1, &Nvlink5Row::want1);
  return row;
}

}  // namespace stoker
