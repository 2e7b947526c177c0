// Fabric analyzer: widths and speeds of links, as PortInfo codes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::fabric {

// Of one lane, slowest first. FDR10, which is no speed of the specification, reads as QDR.
enum class Speed : std::uint8_t { sdr, ddr, qdr, fdr, edr, hdr, ndr, xdr };
inline constexpr unsigned speed_count = 8;

// Sets of speeds: bit i is Speed i.
using Speeds = std::uint16_t;
constexpr Speeds bit_of(Speed speed) {
  return static_cast<Speeds>(1U << static_cast<unsigned>(speed));
}

// Sets of widths, in lanes, as LinkWidthSupported has them (volume 1, 14.2.5.6): 1X, 4X, 8X, 12X, 2X.
using Widths = std::uint8_t;

const char* to_string(Speed speed);  // "HDR"
std::optional<Speed> speed_of(std::string_view word);
// Signalling rate of one lane in Gb/s: 2.5 ... 212.5.
double gbps_of(Speed speed);

// The fastest or widest of a set; nullopt: it is empty.
std::optional<Speed> fastest(Speeds speeds);
std::optional<unsigned> widest(Widths widths);

// Width in lanes and speed of a link; what is not known of them is none.
struct LinkRate {
  std::optional<unsigned> lanes;
  std::optional<Speed> speed;
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};
std::string to_string(const LinkRate& rate);          // "4X HDR"; "?" for what is not known
std::optional<double> gbps_of(const LinkRate& rate);  // of all lanes

// Of the codes of PortInfo. Active codes have one bit; none or several is not known.
std::optional<unsigned> lanes_of(unsigned width_code);
std::optional<Speed> speed_of_codes(unsigned plain, unsigned extended, unsigned extended2);
Speeds speeds_of_codes(unsigned plain, unsigned extended, unsigned extended2);

}  // namespace stoker::fabric
