// Catalogue: at which level a fault lies, as far as its number or its words say.
#pragma once

#include <cstdint>

namespace stoker {

enum class FaultLevel : std::uint8_t {
  application,  // the program on the GPU
  hardware,     // the card, its memory, its slot
  driver,       // driver or firmware
  link,         // NVLink, NVSwitch, PCIe, the network port
  info,         // says something about another event, or about nothing that is wrong
};

const char* to_string(FaultLevel level);

}  // namespace stoker
