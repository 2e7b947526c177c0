#include "net/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace stoker::net {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// "q=0", "q=0.0", "q=0.000" refuse; everything else accepts.
bool refused_by_weight(std::string_view parameters) {
  const auto at = parameters.find("q=");
  if (at == std::string_view::npos) return false;
  const std::string_view weight = trimmed(parameters.substr(at + 2));
  return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  while (!accept_encoding.empty()) {
    const auto comma = accept_encoding.find(',');
    const std::string_view item = accept_encoding.substr(0, comma);
    accept_encoding = comma == std::string_view::npos ? "" : accept_encoding.substr(comma + 1);
    const auto semicolon = item.find(';');
    const std::string_view name = trimmed(item.substr(0, semicolon));
    const bool refused =
        semicolon != std::string_view::npos && refused_by_weight(item.substr(semicolon + 1));
    if (same_word(name, "gzip")) return !refused;
    if (name == "*") any = !refused;
  }
  return any;
}

std::optional<std::string> gzip(std::string_view text) {
  z_stream stream{};
  constexpr int gzip_not_zlib = 16;  // added to the window bits: zlib.h, deflateInit2
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + gzip_not_zlib, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return out;
}

}  // namespace stoker::net
