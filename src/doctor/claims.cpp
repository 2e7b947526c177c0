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
  constexpr std::size_t indent = 10;
  const auto part = [&](std::string_view label, std::string_view text) {
    bool first = true;
    for (const auto& line : wrap(text, width - indent)) {
      out += pad(first ? fmt::format("  {}", label) : "", indent) + line + "\n";
      first = false;
    }
  };
  part("said", claim.said);
  part("so", claim.so);
  part("source", claim.source);
  return out;
}

}  // namespace stoker::doctor
