// Sixteen bytes at a time are compared with pairs of neighbouring letters that ordinary text seldom has, one pair
// a word; where a pair stands, the word is compared. GCC's and clang's vector types need no instruction set by
// name, so that this is the same code on x86-64 and on Arm.
#include "event/sign_search.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace stoker::event {
namespace {

using Block = std::uint8_t __attribute__((vector_size(16)));
using Halves = std::uint64_t __attribute__((vector_size(16)));

struct Sign {
  std::string_view word;
  std::size_t pair;  // where in the word its rare pair begins
};

// What every event has in its line: event_parser.cpp, and the forms that it takes apart.
constexpr std::array<Sign, 13> signs = {{
    {"VRM: ", 0},               // "NVRM: ", whose first letter may be cut off
    {"Xid (", 0},               // SXid too
    {"XID ", 0},                // as NVIDIA's guide on page retirement writes it
    {"AER: ", 0},               //
    {"PCIe Bus Error", 2},      //
    {"pciehp: ", 4},            //
    {"mlx5_core", 1},           //
    {"Kill", 0},                // "Killed process", "Kill process"
    {"oom-kill:c", 3},          //
    {"EDAC MC", 1},             //
    {"fabricmanager", 5},       //
    {"Failed with result", 0},  //
    {"MESSAGE\":[", 8},         // a journal's message that is no text, as JSON
}};

Block load(const char* at) {
  Block block;
  std::memcpy(&block, at, sizeof block);
  return block;
}

// A byte of ones where one of the pairs begins. A fold, so that the letters are constants of the code.
template <std::size_t... index>
Halves pairs_at(const char* at, std::index_sequence<index...> /*signs*/) {
  const Block first = load(at);
  const Block second = load(at + 1);
  const auto pair = [&](const Sign& sign) {
    const auto one = static_cast<std::uint8_t>(sign.word[sign.pair]);
    const auto two = static_cast<std::uint8_t>(sign.word[sign.pair + 1]);
    return reinterpret_cast<Block>((first == one) & (second == two));
  };
  return reinterpret_cast<Halves>((pair(signs[index]) | ...));
}

// Where the sign begins whose pair stands at `at`; npos: there is only the pair, or not even that.
std::size_t sign_at(std::string_view text, std::size_t at) {
  for (const auto& sign : signs) {
    if (at < sign.pair || text[at] != sign.word[sign.pair]) continue;
    if (text.substr(at - sign.pair).starts_with(sign.word)) return at - sign.pair;
  }
  return std::string_view::npos;
}

// The first sign whose pair is marked in `half`, which begins at `at`; first byte lowest.
std::size_t marked_sign(std::string_view text, std::size_t at, std::uint64_t half) {
  static_assert(std::endian::native == std::endian::little);
  constexpr unsigned byte_bits = 8;
  while (half != 0) {
    const auto byte = static_cast<unsigned>(std::countr_zero(half)) / byte_bits;
    const auto found = sign_at(text, at + byte);
    if (found != std::string_view::npos) return found;
    half &= ~(std::uint64_t{0xff} << (byte * byte_bits));
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t find_sign(std::string_view text, std::size_t from) {
  constexpr std::size_t step = sizeof(Block);
  std::size_t at = from;
  for (; at + step + 1 <= text.size(); at += step) {
    const Halves halves = pairs_at(text.data() + at, std::make_index_sequence<signs.size()>());
    if ((halves[0] | halves[1]) == 0) continue;
    for (std::size_t n = 0; n < 2; ++n) {
      const auto found = marked_sign(text, at + n * step / 2, halves[n]);
      if (found != std::string_view::npos && found >= from) return found;
    }
  }
  for (; at < text.size(); ++at) {
    const auto found = sign_at(text, at);
    if (found != std::string_view::npos && found >= from) return found;
  }
  return std::string_view::npos;
}

std::size_t count_lines(std::string_view text) {
  constexpr std::size_t step = sizeof(Block);
  constexpr std::size_t most = 255;  // what one byte of the sums holds
  std::size_t count = 0;
  std::size_t at = 0;
  while (at + step <= text.size()) {
    Block sums = {};
    for (std::size_t n = 0; n < most && at + step <= text.size(); ++n, at += step) {
      sums -= reinterpret_cast<Block>(load(text.data() + at) == static_cast<std::uint8_t>('\n'));
    }
    for (std::size_t n = 0; n < step; ++n) count += sums[n];
  }
  for (; at < text.size(); ++at) count += text[at] == '\n' ? 1 : 0;
  return count;
}

}  // namespace stoker::event
