// Any bytes as the payload of every datagram that is read: decoded or refused, and never more than a counter can hold.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fabric/mad.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fabric = stoker::fabric;
  const fabric::Bytes bytes(data, size);
  (void)fabric::decode_node_name(bytes);
  (void)fabric::decode_lid(bytes);
  if (const auto port = fabric::decode_port_info(bytes)) {
    (void)fabric::to_string(port->rate);
    (void)fabric::fastest(port->speeds_enabled);
    (void)fabric::widest(port->widths_supported);
  }
  const auto abilities = fabric::decode_abilities(bytes);
  if (!abilities) return 0;
  fabric::Counters counters;
  (void)fabric::decode_counters(bytes, *abilities, counters);
  (void)fabric::decode_wide_counters(bytes, *abilities, counters);
  for (const auto& row : fabric::counter_rows()) {
    const auto& reading = counters.at(static_cast<std::size_t>(row.id));
    if (reading && reading->bits < fabric::wide_bits && reading->value >> reading->bits != 0)
      std::abort();
  }
  return 0;
}
