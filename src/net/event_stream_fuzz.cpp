// Whatever comes, in whatever pieces, gives the same events, and a bounded number of bytes of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/event_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  stoker::net::EventReader whole;
  stoker::net::EventReader pieces;
  std::size_t in_pieces = 0;
  for (const char c : text) in_pieces += pieces.read({&c, 1}).size();
  if (whole.read(text).size() != in_pieces) std::abort();
  return 0;
}
