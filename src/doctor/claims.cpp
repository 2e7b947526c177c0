#include "doctor/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/wrap.h"

namespace stoker::doctor {
namespace {

constexpr auto claim_rows = std::to_array<Claim>({
#define STOKER_CLAIM(id, said, so, source) {id, said, so, source},
#include "doctor/claims.def"
#undef STOKER_CLAIM
});

}  // namespace

std::span<const Claim> all_claims() { return claim_rows; }

const Claim* find_claim(std::string_view id) {
  const auto found = std::ranges::find(claim_rows, id, &Claim::id);
  return found == claim_rows.end() ? nullptr : &*found;
}

std::string explain_claim(const Claim& claim, std::size_t width) {
  std::string out = fmt::format("{}\n", claim.id);
  append_labelled(out, "said", claim.said, width);
  append_labelled(out, "so", claim.so, width);
  append_labelled(out, "source", claim.source, width);
  return out;
}

}  // namespace stoker::doctor
