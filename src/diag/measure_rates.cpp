#include "diag/measure_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "diag/kernels/memory.h"
#include "diag/median.h"
#include "diag/run_shape.h"
#include "diag/sizes.h"

namespace stoker::diag {
namespace {

Measurement rate_of(const std::string& test, const Card& card, double bytes,
                    const Result<double>& seconds) {
  if (!seconds) return not_done(test, card.facts().index, seconds.error());
  return {.test = test,
          .gpu = card.facts().index,
          .value = *seconds > 0 ? bytes / *seconds : 0,
          .unit = "bytes_per_second"};
}

std::vector<Measurement> all_not_done(const std::vector<std::string>& tests, const Card& card,
                                      const Error& error) {
  std::vector<Measurement> out;
  out.reserve(tests.size());
  for (const auto& test : tests) out.push_back(not_done(test, card.facts().index, error));
  return out;
}

struct HostBuffers {
  CardMemory on_card;
  CardMemory second_on_card;
  HostMemory on_host;
  HostMemory second_on_host;
};

Result<HostBuffers> take_buffers(Card& card, std::uint64_t bytes) {
  auto on_card = CardMemory::take(card, bytes);
  if (!on_card) return fail(on_card.error());
  auto second = CardMemory::take(card, bytes);
  if (!second) return fail(second.error());
  auto on_host = HostMemory::take(card, bytes);
  if (!on_host) return fail(on_host.error());
  auto second_host = HostMemory::take(card, bytes);
  if (!second_host) return fail(second_host.error());
  std::memset(on_host->as<void>(), 0x5a, bytes);  // touched, and no page of zeros
  std::memset(second_host->as<void>(), 0xa5, bytes);
  return HostBuffers{std::move(*on_card), std::move(*second), std::move(*on_host),
                     std::move(*second_host)};
}

// Memory that was freed is cleared by the driver afterwards, which takes bandwidth for tenths of a second after a program
// with much of it has ended (seen on an H200: 12 % less). So the best of a few medians, some time apart.
Result<double> undisturbed_seconds(Card& card, std::uint32_t repeats,
                                   const std::function<Result<void>()>& work) {
  constexpr int rounds = 4;
  constexpr Milliseconds apart{100};
  std::optional<double> best;
  for (int i = 0; i < rounds; ++i) {
    if (i > 0 && !card.facts().simulated) std::this_thread::sleep_for(apart);
    const auto seconds = median_seconds(card, repeats, work);
    if (!seconds) return seconds;
    best = std::min(best.value_or(*seconds), *seconds);
  }
  return *best;
}

}  // namespace

Result<double> median_seconds(Card& card, std::uint32_t repeats,
                              const std::function<Result<void>()>& work) {
  std::vector<double> seconds;
  for (std::uint32_t i = 0; i <= repeats; ++i) {
    const auto took = card.timed(work);
    if (!took) return fail(took.error());
    if (i > 0) seconds.push_back(*took);
  }
  return median_of(std::move(seconds));
}

std::vector<Measurement> measure_memory(Card& card) {
  const std::vector<std::string> tests = {"memory_read", "memory_write", "memory_copy"};
  const Sizes sizes = sizes_for(card.facts());
  const auto from = CardMemory::take(card, sizes.stream_bytes);
  if (!from) return all_not_done(tests, card, from.error());
  const auto to = CardMemory::take(card, sizes.stream_bytes);
  if (!to) return all_not_done(tests, card, to.error());
  const MoveArgs args{from->as<Words>(), to->as<Words>(), sizes.stream_bytes / sizeof(Words)};
  const auto bytes = static_cast<double>(sizes.stream_bytes);
  const auto run = [&](const std::string& test, Kernel kernel, double moved) {
    const Launch how = streaming(card.facts(), kernel, moved);
    return rate_of(test, card, moved, undisturbed_seconds(card, sizes.repeats, [&] {
                     return card.launch(how, args);
                   }));
  };
  // Noise, as a card may move zeros faster.
  const FillArgs fill{from->as<Words>(), args.count, 0, static_cast<std::uint32_t>(Pattern::noise),
                      1};
  if (auto done = card.launch(streaming(card.facts(), Kernel::fill, bytes), fill); !done) {
    return all_not_done(tests, card, done.error());
  }
  return {run("memory_read", Kernel::read_only, bytes),
          run("memory_write", Kernel::write_only, bytes),
          run("memory_copy", Kernel::copy_all, 2 * bytes)};
}

std::vector<Measurement> measure_pcie(Card& card) {
  const std::vector<std::string> tests = {"pcie_to_card", "pcie_from_card", "pcie_both",
                                          "pcie_latency"};
  const Sizes sizes = sizes_for(card.facts());
  const auto buffers = take_buffers(card, sizes.transfer_bytes);
  if (!buffers) return all_not_done(tests, card, buffers.error());
  const auto bytes = static_cast<double>(sizes.transfer_bytes);
  const auto to_card = [&](std::uint64_t size) {
    return card.to_card(buffers->on_card.address(), buffers->on_host.as<void>(), size,
                        Queue::first);
  };
  const auto from_card = [&](Queue queue) {
    return card.from_card(buffers->second_on_host.as<void>(), buffers->second_on_card.address(),
                          sizes.transfer_bytes, queue);
  };
  std::vector<Measurement> out = {
      rate_of(tests[0], card, bytes,
              median_seconds(card, sizes.repeats, [&] { return to_card(sizes.transfer_bytes); })),
      rate_of(tests[1], card, bytes,
              median_seconds(card, sizes.repeats, [&] { return from_card(Queue::first); })),
      rate_of(tests[2], card, 2 * bytes, median_seconds(card, sizes.repeats, [&]() -> Result<void> {
                if (auto ok = to_card(sizes.transfer_bytes); !ok) return ok;
                return from_card(Queue::second);
              }))};
  const auto latency = median_seconds(card, sizes.latency_repeats, [&] { return to_card(4); });
  out.push_back(latency ? Measurement{.test = tests[3],
                                      .gpu = card.facts().index,
                                      .value = *latency,
                                      .unit = "seconds"}
                        : not_done(tests[3], card.facts().index, latency.error()));
  return out;
}

}  // namespace stoker::diag
