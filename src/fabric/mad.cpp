#include "fabric/mad.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/wrap.h"

namespace stoker::fabric {
namespace {

constexpr std::size_t port_info_bytes = 64;
constexpr std::size_t counters_bytes = 44;
constexpr std::size_t wide_counters_bytes = 72;         // the traffic
constexpr std::size_t wide_error_counters_bytes = 176;  // the errors behind it
constexpr std::size_t abilities_bytes = 8;
constexpr unsigned byte_bits = 8;
constexpr unsigned no_extended_speeds = 30;  // LinkSpeedExtEnabled: none of them

// `width` bits (up to 64) from `bit` on; the caller has seen that they are there.
std::uint64_t bits_at(Bytes bytes, unsigned bit, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = bit; i < bit + width; ++i) {
    const unsigned byte = bytes[i / byte_bits];
    value = value << 1U | (byte >> (byte_bits - 1 - i % byte_bits) & 1U);
  }
  return value;
}

unsigned number_at(Bytes bytes, unsigned bit, unsigned width) {
  return static_cast<unsigned>(bits_at(bytes, bit, width));
}

Result<void> expect(Bytes payload, std::size_t bytes, const char* what) {
  if (payload.size() >= bytes) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("{} has {} bytes and needs {}", what, payload.size(), bytes));
}

}  // namespace

Result<Port> decode_port_info(Bytes payload) {
  if (auto enough = expect(payload, port_info_bytes, "PortInfo"); !enough) {
    return fail(enough.error());
  }
  const auto at = [&](unsigned bit, unsigned width) { return number_at(payload, bit, width); };
  Port port;
  const unsigned state = at(260, 4);
  const unsigned physical = at(264, 4);
  if (state <= static_cast<unsigned>(LinkState::active)) port.state = static_cast<LinkState>(state);
  if (physical <= static_cast<unsigned>(PhysicalState::test)) {
    port.physical = static_cast<PhysicalState>(physical);
  }
  port.widths_enabled = static_cast<Widths>(at(232, 8));
  port.widths_supported = static_cast<Widths>(at(240, 8));
  port.speeds_supported = speeds_of_codes(at(256, 4), at(500, 4), at(475, 2));
  const unsigned extended = at(507, 5);
  port.speeds_enabled =
      speeds_of_codes(at(284, 4), extended == no_extended_speeds ? 0 : extended, at(472, 3));
  if (port.state != LinkState::down) {
    port.rate.lanes = lanes_of(at(248, 8));
    port.rate.speed = speed_of_codes(at(280, 4), at(496, 4), at(477, 2));
  }
  return port;
}

Result<std::uint16_t> decode_lid(Bytes payload) {
  if (auto enough = expect(payload, port_info_bytes, "PortInfo"); !enough) {
    return fail(enough.error());
  }
  return static_cast<std::uint16_t>(number_at(payload, 128, 16));
}

Result<CounterAbilities> decode_abilities(Bytes payload) {
  if (auto enough = expect(payload, abilities_bytes, "ClassPortInfo"); !enough) {
    return fail(enough.error());
  }
  const unsigned mask = number_at(payload, 16, 16);
  const unsigned mask2 = number_at(payload, 32, 27);
  CounterAbilities abilities;
  abilities.wide_traffic = (mask & (1U << 9U | 1U << 10U)) != 0;
  abilities.xmit_wait = (mask & 1U << 12U) != 0;
  abilities.wide_errors = (mask2 & 1U << 1U) != 0;
  return abilities;
}

Result<void> decode_counters(Bytes payload, const CounterAbilities& abilities, Counters& into) {
  if (auto enough = expect(payload, counters_bytes, "PortCounters"); !enough) return enough;
  for (const CounterRow& row : counter_rows()) {
    if (row.id == CounterId::port_xmit_wait && !abilities.xmit_wait) continue;
    into.at(static_cast<std::size_t>(row.id)) =
        CounterReading{bits_at(payload, row.bit, row.width), row.width};
  }
  return {};
}

Result<void> decode_wide_counters(Bytes payload, const CounterAbilities& abilities,
                                  Counters& into) {
  const std::size_t needed =
      abilities.wide_errors ? wide_error_counters_bytes : wide_counters_bytes;
  if (auto enough = expect(payload, needed, "PortCountersExtended"); !enough) return enough;
  for (const CounterRow& row : counter_rows()) {
    const bool wide =
        row.group == CounterGroup::errors ? abilities.wide_errors : abilities.wide_traffic;
    if (!wide) continue;
    into.at(static_cast<std::size_t>(row.id)) =
        CounterReading{bits_at(payload, row.wide_bit, wide_bits), wide_bits};
  }
  return {};
}

std::string decode_node_name(Bytes payload) {
  const auto end = std::ranges::find(payload, std::uint8_t{0});
  return printable(std::string(payload.begin(), end));
}

NodeKind decode_node_kind(unsigned type) {
  switch (type) {
    case 1: return NodeKind::adapter;
    case 2: return NodeKind::switch_;
    case 3: return NodeKind::router;
    default: return NodeKind::unknown;
  }
}

}  // namespace stoker::fabric
