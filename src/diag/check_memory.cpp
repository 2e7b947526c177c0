#include "diag/check_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "diag/kernels/memory.h"
#include "diag/run_shape.h"

namespace stoker::diag {
namespace {

struct Pass {
  Pattern pattern;
  std::uint32_t seed;
};

// Every cell holds each value beside neighbours of the same, of the opposite and of any value: van de Goor, "Testing
// Semiconductor Memories" (1991), calls them solid, checkerboard and pseudo-random backgrounds.
constexpr auto pattern_passes = std::to_array<Pass>({{Pattern::constant, 0x00000000},
                                                     {Pattern::constant, 0xffffffff},
                                                     {Pattern::constant, 0xaaaaaaaa},
                                                     {Pattern::constant, 0x55555555},
                                                     {Pattern::noise, 0x13579bdf}});
// The second has every bit of the first inverted, so that a line stuck at either value is seen.
constexpr auto address_passes =
    std::to_array<Pass>({{Pattern::address, 0}, {Pattern::address, 0xffffffff}});

constexpr std::size_t most_named = 20;

struct Found {
  std::uint64_t count = 0;
  std::vector<WrongWord> words;  // sorted by number; at most WrongWords::room a pass
};

class MemoryCheck {
 public:
  static Result<MemoryCheck> on(Card& card, const MemoryRange& range) {
    auto wrong = CardMemory::take(card, sizeof(WrongWords));
    if (!wrong) return fail(wrong.error());
    auto host = HostMemory::take(card, sizeof(WrongWords));
    if (!host) return fail(host.error());
    return MemoryCheck(card, range, std::move(*wrong), std::move(*host));
  }

  // `between` runs after the pattern is written.
  Result<void> run(const Pass& pass, Found& found, const std::function<Result<void>()>& between) {
    if (auto done = each_piece(
            [&](const FillArgs& args) { return card_.launch(shape(Kernel::fill, args), args); },
            pass);
        !done)
      return done;
    if (auto done = card_.wait(); !done) return done;
    if (between) {
      if (auto done = between(); !done) return done;
    }
    if (auto done = card_.zero(wrong_.address(), sizeof(WrongWords)); !done) return done;
    if (auto done = each_piece(
            [&](const FillArgs& args) {
              const CheckArgs check{args, wrong_.as<WrongWords>()};
              return card_.launch(shape(Kernel::check, args), check);
            },
            pass);
        !done)
      return done;
    return collect(found);
  }

 private:
  MemoryCheck(Card& card, const MemoryRange& range, CardMemory wrong, HostMemory host)
      : card_(card), range_(range), wrong_(std::move(wrong)), host_(std::move(host)) {}

  [[nodiscard]] Launch shape(Kernel kernel, const FillArgs& args) const {
    return streaming(card_.facts(), kernel, static_cast<double>(args.count * sizeof(Words)));
  }

  template <typename Do>
  Result<void> each_piece(Do launch, const Pass& pass) {
    std::uint64_t first = 0;
    for (const auto& piece : range_.pieces) {
      const FillArgs args{piece.as<Words>(), piece.bytes() / sizeof(Words), first,
                          static_cast<std::uint32_t>(pass.pattern), pass.seed};
      if (auto done = launch(args); !done) return done;
      first += piece.bytes() / sizeof(std::uint32_t);
    }
    return {};
  }

  Result<void> collect(Found& found) {
    const auto* wrong = host_.as<WrongWords>();
    if (auto done =
            card_.from_card(host_.as<void>(), wrong_.address(), sizeof(WrongWords), Queue::first);
        !done) {
      return done;
    }
    if (auto done = card_.wait(); !done) return done;
    found.count += wrong->count;
    const auto kept = std::min(wrong->count, WrongWords::room);
    found.words.insert(found.words.end(), wrong->words, wrong->words + kept);
    return {};
  }

  Card& card_;
  const MemoryRange& range_;
  CardMemory wrong_;
  HostMemory host_;
};

std::string text_of(const WrongWord& word) {
  const std::uint32_t differ = word.expected ^ word.found;
  const std::string bits = std::popcount(differ) == 1
                               ? fmt::format("bit {}", std::countr_zero(differ))
                               : fmt::format("{} bits", std::popcount(differ));
  return fmt::format("byte {:#x} of the range: {:#010x} where {:#010x} was written ({})",
                     word.number * 4, word.found, word.expected, bits);
}

Measurement measurement_of(const std::string& test, const Card& card, const MemoryRange& range,
                           const Found& found) {
  Measurement out{.test = test,
                  .gpu = card.facts().index,
                  .value = static_cast<double>(found.count),
                  .unit = "errors"};
  const std::string size =
      fmt::format("{:.1f} GiB", static_cast<double>(range.bytes) / (1ULL << 30));
  out.reason = fmt::format("{} tested", size);
  if (found.count == 0) return out;
  out.outcome = Outcome::wrong;
  out.reason = fmt::format("{} wrong words in {}, the first at byte {:#x} of the range",
                           found.count, size, found.words.front().number * 4);
  for (const auto& word : found.words) {
    if (out.details.size() == most_named) break;
    out.details.push_back(text_of(word));
  }
  return out;
}

template <typename Passes>
Measurement run_passes(Card& card, const MemoryRange& range, const std::string& test,
                       const Passes& passes, const MemoryOptions& options) {
  auto check = MemoryCheck::on(card, range);
  if (!check) return not_done(test, card.facts().index, check.error());
  Found found;
  bool first = true;
  for (const auto& pass : passes) {
    std::function<Result<void>()> between;
    if (first && options.meddle) between = [&] { return options.meddle(card, range); };
    first = false;
    if (auto done = check->run(pass, found, between); !done) {
      return not_done(test, card.facts().index, done.error());
    }
  }
  std::ranges::sort(found.words, {}, &WrongWord::number);
  if (options.wrong != nullptr) {
    for (const auto& word : found.words) options.wrong->push_back(word.number);
  }
  return measurement_of(test, card, range, found);
}

}  // namespace

Address MemoryRange::address_of(std::uint64_t word) const {
  for (const auto& piece : pieces) {
    const std::uint64_t words = piece.bytes() / sizeof(std::uint32_t);
    if (word < words) return piece.address() + word * sizeof(std::uint32_t);
    word -= words;
  }
  return 0;
}

Result<MemoryRange> take_memory(Card& card, const MemoryOptions& options) {
  const auto memory = card.memory();
  if (!memory) return fail(memory.error());
  auto wanted = static_cast<std::uint64_t>(options.share * static_cast<double>(memory->free_bytes));
  if (options.most != 0) wanted = std::min(wanted, options.most);
  MemoryRange range;
  constexpr std::uint64_t grain = 1 << 16;
  while (range.bytes + grain <= wanted) {
    const std::uint64_t bytes = std::min(options.piece, wanted - range.bytes) / grain * grain;
    auto piece = CardMemory::take(card, bytes);
    if (!piece) {
      if (piece.error().code() != ErrorCode::unavailable) return fail(piece.error());
      break;
    }
    range.bytes += bytes;
    range.pieces.push_back(std::move(*piece));
  }
  if (static_cast<double>(range.bytes) >= 0.9 * static_cast<double>(wanted) && range.bytes > 0)
    return range;
  return fail(ErrorCode::unavailable,
              fmt::format("of {:.2f} GiB that the card calls free, {:.2f} could be allocated where "
                          "{:.2f} were asked for",
                          static_cast<double>(memory->free_bytes) / (1ULL << 30),
                          static_cast<double>(range.bytes) / (1ULL << 30),
                          static_cast<double>(wanted) / (1ULL << 30)));
}

std::vector<Measurement> check_memory(Card& card, const MemoryOptions& options) {
  const std::uint32_t gpu = card.facts().index;
  const auto range = take_memory(card, options);
  if (!range) {
    return {not_done("memory_pattern", gpu, range.error()),
            not_done("memory_address", gpu, range.error())};
  }
  MemoryOptions unmeddled = options;
  unmeddled.meddle = nullptr;
  unmeddled.wrong = nullptr;
  return {run_passes(card, *range, "memory_pattern", pattern_passes, options),
          run_passes(card, *range, "memory_address", address_passes, unmeddled)};
}

std::function<Result<void>(Card&, const MemoryRange&)> flip_bits(
    std::uint32_t count, std::vector<std::uint64_t>& flipped) {
  return [count, &flipped](Card& card, const MemoryRange& range) -> Result<void> {
    auto word = HostMemory::take(card, sizeof(std::uint32_t));
    if (!word) return fail(word.error());
    const std::uint64_t stride = range.bytes / sizeof(std::uint32_t) / count;
    if (stride == 0)
      return fail(ErrorCode::invalid_input, "more bits to flip than there are words");
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t number = i * stride + mixed(i) % stride;
      const Address address = range.address_of(number);
      if (auto done =
              card.from_card(word->as<void>(), address, sizeof(std::uint32_t), Queue::first);
          !done)
        return done;
      if (auto done = card.wait(); !done) return done;
      *word->as<std::uint32_t>() ^= 1U << (mixed(~i) % 32);
      if (auto done = card.to_card(address, word->as<void>(), sizeof(std::uint32_t), Queue::first);
          !done)
        return done;
      if (auto done = card.wait(); !done) return done;
      flipped.push_back(number);
    }
    return {};
  };
}

}  // namespace stoker::diag
