#include "fabric/guid_reader.h"

#include "base/text.h"

namespace stoker::fabric {

std::optional<Guid> read_guid(std::string_view text) {
  constexpr std::size_t most_digits = 16;
  constexpr unsigned digit_bits = 4;
  if (text.starts_with("0x")) text.remove_prefix(2);
  if (text.empty() || text.size() > most_digits) return std::nullopt;
  Guid guid = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    guid = guid << digit_bits | static_cast<Guid>(digit);
  }
  if (guid == 0) return std::nullopt;
  return guid;
}

}  // namespace stoker::fabric
