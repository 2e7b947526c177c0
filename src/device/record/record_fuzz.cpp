// Fuzz: whatever a block of a recording holds, it is refused or gives events that can be written again;
// nothing is read past the end, and no count that lies allocates.
#include <cstdlib>
#include <string_view>

#include "device/record/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace stoker::device::record;
  Decoder decoder;
  Encoder encoder;
  const auto read = decoder.read_block(std::string_view(reinterpret_cast<const char*>(data), size),
                                       [&encoder](const Event& event) { encoder.add(event); });
  if (!read) return 0;
  // Only a well-formed block has to be one again.
  if (!Decoder().read_block(encoder.take_block(), [](const Event&) {})) std::abort();
  return 0;
}
