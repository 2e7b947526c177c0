// Fuzz: whatever comes over the socket, decode() refuses it or gives a message that can be written
// again; it never reads past the end and never allocates by a count that lies.
#include <cstdlib>
#include <string_view>

#include "device/probe/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using stoker::device::probe::decode;
  using stoker::device::probe::encode;
  const auto message = decode(std::string_view(reinterpret_cast<const char*>(data), size));
  if (message && !decode(encode(*message))) std::abort();
  return 0;
}
