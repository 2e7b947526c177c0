// The record of /dev/kmsg as text: Documentation/ABI/testing/dev-kmsg and printk.c
// (info_print_ext_header, msg_print_ext_body).
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "os/kmsg.h"

namespace stoker::os {
namespace {

// Takes a decimal number and the one `separator` behind it off `text`.
template <typename T>
std::optional<T> take_number(std::string_view& text, char separator) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == text.size() || *end != separator) return std::nullopt;
  text.remove_prefix(length + 1);
  return value;
}

// Bytes below 32, from 127 on, and '\' are written as \xNN.
std::string unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '\\' && n + 3 < text.size() && text[n + 1] == 'x') {
      const int high = hex_digit(text[n + 2]);
      const int low = hex_digit(text[n + 3]);
      if (high >= 0 && low >= 0) {
        plain += static_cast<char>(high * 16 + low);
        n += 3;
        continue;
      }
    }
    plain += text[n];
  }
  return plain;
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte >= 127 || c == '\\') {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

tl::unexpected<Error> no_record(std::string_view record) {
  constexpr std::size_t shown = 80;
  return fail(ErrorCode::corrupt,
              fmt::format("no kmsg record (want \"4,1234,5678,-;text\"): \"{}\"",
                          escape(record.substr(0, shown))));
}

}  // namespace

Result<KmsgRecord> parse_kmsg_record(std::string_view record) {
  std::string_view rest = record;
  // "prefix,sequence,microseconds,flags[,more...];text": the prefix is facility * 8 + priority.
  const auto prefix = take_number<std::uint32_t>(rest, ',');
  const auto sequence = prefix ? take_number<std::uint64_t>(rest, ',') : std::nullopt;
  const auto microseconds = sequence ? take_number<std::uint64_t>(rest, ',') : std::nullopt;
  const std::size_t semicolon = rest.find(';');
  const std::size_t line_end = rest.find('\n');
  if (!microseconds || semicolon == std::string_view::npos || line_end < semicolon)
    return no_record(record);
  rest.remove_prefix(semicolon + 1);
  return KmsgRecord{.priority = static_cast<std::uint8_t>(*prefix & 7U),
                    .facility = *prefix >> 3U,
                    .sequence = *sequence,
                    .microseconds = *microseconds,
                    .text = unescape(rest.substr(0, rest.find('\n')))};
}

std::string format_kmsg_record(const KmsgRecord& record) {
  return fmt::format("{},{},{},-;{}\n", record.facility * 8 + record.priority, record.sequence,
                     record.microseconds, escape(record.text));
}

}  // namespace stoker::os
