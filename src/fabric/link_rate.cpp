#include "fabric/link_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace stoker::fabric {
namespace {

struct SpeedRow {
  const char* word;
  double gbps;
};
// As libibmad's dump.c names the codes (mad_dump_linkspeed, _linkspeedext, _linkspeedext2).
constexpr std::array<SpeedRow, speed_count> speed_rows = {{{"SDR", 2.5},
                                                           {"DDR", 5.0},
                                                           {"QDR", 10.0},
                                                           {"FDR", 14.0625},
                                                           {"EDR", 25.78125},
                                                           {"HDR", 53.125},
                                                           {"NDR", 106.25},
                                                           {"XDR", 212.5}}};

constexpr std::array<unsigned, 5> lanes_of_bit = {1, 4, 8, 12, 2};
constexpr unsigned plain_codes = 0x7;      // SDR, DDR, QDR
constexpr unsigned extended_codes = 0xf;   // FDR, EDR, HDR, NDR
constexpr unsigned extended2_codes = 0x1;  // XDR
constexpr unsigned extended_at = 3;
constexpr unsigned extended2_at = 7;

}  // namespace

const char* to_string(Speed speed) { return speed_rows.at(static_cast<std::size_t>(speed)).word; }

std::optional<Speed> speed_of(std::string_view word) {
  const auto* const found = std::ranges::find(speed_rows, word, &SpeedRow::word);
  if (found == speed_rows.end()) return std::nullopt;
  return static_cast<Speed>(found - speed_rows.begin());
}

double gbps_of(Speed speed) { return speed_rows.at(static_cast<std::size_t>(speed)).gbps; }

std::optional<Speed> fastest(Speeds speeds) {
  if (speeds == 0) return std::nullopt;
  return static_cast<Speed>(std::bit_width(speeds) - 1);
}

std::optional<unsigned> widest(Widths widths) {
  std::optional<unsigned> lanes;
  for (std::size_t bit = 0; bit < lanes_of_bit.size(); ++bit) {
    if ((widths >> bit & 1U) != 0) lanes = std::max(lanes.value_or(0), lanes_of_bit.at(bit));
  }
  return lanes;
}

std::string to_string(const LinkRate& rate) {
  return fmt::format("{} {}", rate.lanes ? fmt::format("{}X", *rate.lanes) : "?X",
                     rate.speed ? to_string(*rate.speed) : "?");
}

std::optional<double> gbps_of(const LinkRate& rate) {
  if (!rate.lanes || !rate.speed) return std::nullopt;
  return *rate.lanes * gbps_of(*rate.speed);
}

std::optional<unsigned> lanes_of(unsigned width_code) {
  if (std::popcount(width_code) != 1 || width_code >= 1U << lanes_of_bit.size())
    return std::nullopt;
  return lanes_of_bit.at(static_cast<std::size_t>(std::countr_zero(width_code)));
}

// An extended speed leaves the plain code at QDR, so the highest of all is what runs.
std::optional<Speed> speed_of_codes(unsigned plain, unsigned extended, unsigned extended2) {
  if (extended2 != 0) {
    return extended2 == extended2_codes ? std::optional(Speed::xdr) : std::nullopt;
  }
  if (extended != 0) {
    const auto known = extended & extended_codes;
    if (known != extended || std::popcount(known) != 1) return std::nullopt;
    return static_cast<Speed>(extended_at + static_cast<unsigned>(std::countr_zero(known)));
  }
  if ((plain & plain_codes) != plain || std::popcount(plain) != 1) return std::nullopt;
  return static_cast<Speed>(std::countr_zero(plain));
}

Speeds speeds_of_codes(unsigned plain, unsigned extended, unsigned extended2) {
  return static_cast<Speeds>((plain & plain_codes) | (extended & extended_codes) << extended_at |
                             (extended2 & extended2_codes) << extended2_at);
}

}  // namespace stoker::fabric
