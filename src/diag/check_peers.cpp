#include "diag/check_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/clock.h"
#include "diag/kernels/memory.h"
#include "diag/kernels/reduce.h"
#include "diag/measure_rates.h"
#include "diag/median.h"
#include "diag/run_shape.h"
#include "diag/sizes.h"

namespace stoker::diag {
namespace {

// One array and its sums on every card.
struct PeerArrays {
  std::vector<CardMemory> arrays;
  std::vector<CardMemory> sums;
  std::uint64_t bytes = 0;
};

// Seconds that all cards together took: by the host's clock, or where times follow from rates the longest of them.
class Together {
 public:
  explicit Together(const Cards& cards) : cards_(cards) {}

  template <typename Work>
  Result<double> timed(Work work) {
    if (cards_.front()->facts().simulated) return modelled(work);
    const auto began = system_clock().monotonic();
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      if (auto ok = work(i); !ok) return fail(ok.error());
    }
    for (const auto& card : cards_) {
      if (auto ok = card->wait(); !ok) return fail(ok.error());
    }
    return static_cast<double>((system_clock().monotonic() - began).count()) * 1e-9;
  }

 private:
  template <typename Work>
  Result<double> modelled(Work work) {
    double longest = 0;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      const auto took = cards_[i]->timed([&] { return work(i); });
      if (!took) return fail(took.error());
      longest = std::max(longest, *took);
    }
    return longest;
  }
  const Cards& cards_;
};

class PeerCheck {
 public:
  explicit PeerCheck(const Cards& cards) : cards_(cards) {}

  std::vector<Measurement> run() {
    if (cards_.size() < 2)
      return for_all(Error(ErrorCode::not_supported, "there is no other card to reach"));
    for (const auto& card : cards_) {
      for (const auto& other : cards_) {
        if (card == other) continue;
        if (auto ok = card->open_peer(*other); !ok) {
          return for_all(
              Error(ok.error().code(), fmt::format("GPU {} and GPU {}: {}", card->facts().index,
                                                   other->facts().index, ok.error().message())));
        }
      }
    }
    if (auto ok = take(); !ok) return for_all(ok.error());
    for (std::size_t i = 0; i < cards_.size(); ++i) out_.push_back(slowest_copy(i));
    all_at_once();
    all_reduce();
    return std::move(out_);
  }

 private:
  std::vector<Measurement> for_all(const Error& error) const {
    std::vector<Measurement> out;
    for (const auto& card : cards_) {
      for (const char* test : {"peer_copy", "peer_all", "all_reduce"}) {
        out.push_back(not_done(test, card->facts().index, error));
      }
    }
    return out;
  }

  Result<void> take() {
    const Sizes sizes = sizes_for(cards_.front()->facts());
    // A multiple of the cards' slices.
    const std::uint64_t grain = cards_.size() * sizeof(Words) * 64;
    held_.bytes = sizes.transfer_bytes / grain * grain;
    for (const auto& card : cards_) {
      for (auto* list : {&held_.arrays, &held_.sums}) {
        auto memory = CardMemory::take(*card, held_.bytes);
        if (!memory) return fail(memory.error());
        list->push_back(std::move(*memory));
      }
    }
    return fill_arrays();
  }

  Result<void> fill_arrays() {
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      const FillArgs args{held_.arrays[i].as<Words>(), held_.bytes / sizeof(Words), 0,
                          static_cast<std::uint32_t>(Pattern::address),
                          static_cast<std::uint32_t>(i)};
      const Launch how =
          streaming(cards_[i]->facts(), Kernel::fill, static_cast<double>(held_.bytes));
      if (auto ok = cards_[i]->launch(how, args); !ok) return ok;
      if (auto ok = cards_[i]->wait(); !ok) return ok;
    }
    return {};
  }

  Measurement slowest_copy(std::size_t to) {
    Card& card = *cards_[to];
    Measurement out{.test = "peer_copy", .gpu = card.facts().index, .unit = "bytes_per_second"};
    for (std::size_t from = 0; from < cards_.size(); ++from) {
      if (from == to) continue;
      const auto seconds = median_seconds(card, sizes_for(card.facts()).repeats, [&] {
        return card.from_peer(held_.sums[to].address(), *cards_[from], held_.arrays[from].address(),
                              held_.bytes, Queue::first);
      });
      if (!seconds) return not_done("peer_copy", card.facts().index, seconds.error());
      const double rate = *seconds > 0 ? static_cast<double>(held_.bytes) / *seconds : 0;
      out.details.push_back(
          fmt::format("from GPU {}: {:.1f} GB/s", cards_[from]->facts().index, rate / 1e9));
      if (!out.peer.empty() && rate >= out.value) continue;
      out.value = rate;
      out.peer = fmt::format("GPU {}", cards_[from]->facts().index);
    }
    return out;
  }

  void all_at_once() {
    Together together(cards_);
    const std::uint32_t copies =
        cards_.front()->facts().simulated ? 1 : 20;  // the host's clock starts them one by one
    const auto seconds = together.timed([&](std::size_t to) -> Result<void> {
      const std::size_t from = (to + 1) % cards_.size();
      for (std::uint32_t i = 0; i < copies; ++i) {
        if (auto ok =
                cards_[to]->from_peer(held_.sums[to].address(), *cards_[from],
                                      held_.arrays[from].address(), held_.bytes, Queue::first);
            !ok) {
          return ok;
        }
      }
      return {};
    });
    tell("peer_all", seconds, static_cast<double>(held_.bytes) * copies, std::nullopt);
  }

  void tell(const std::string& test, const Result<double>& seconds, double bytes,
            std::optional<std::uint32_t> wrong) {
    for (const auto& card : cards_) {
      const std::uint32_t gpu = card->facts().index;
      if (!seconds) {
        out_.push_back(not_done(test, gpu, seconds.error()));
        continue;
      }
      Measurement one{.test = test,
                      .gpu = gpu,
                      .value = *seconds > 0 ? bytes / *seconds : 0,
                      .unit = "bytes_per_second"};
      if (wrong == gpu) {
        one.outcome = Outcome::wrong;
        one.reason = "its sums are not those of all cards' arrays";
      }
      out_.push_back(std::move(one));
    }
  }

  [[nodiscard]] ReduceArgs reduce_args(std::size_t card) const {
    ReduceArgs args{};
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      args.arrays[i] = held_.arrays[i].as<Words>();
      args.sums[i] = held_.sums[i].as<Words>();
    }
    args.cards = static_cast<std::uint32_t>(cards_.size());
    args.card = static_cast<std::uint32_t>(card);
    args.slice = held_.bytes / sizeof(Words) / cards_.size();
    return args;
  }

  Result<double> reduce_once() {
    const double share =
        static_cast<double>(cards_.size() - 1) / static_cast<double>(cards_.size());
    double seconds = 0;
    for (const Kernel kernel : {Kernel::reduce_slice, Kernel::gather_slices}) {
      Together together(cards_);
      const auto took = together.timed([&](std::size_t i) {
        const Launch how = streaming(cards_[i]->facts(), kernel,
                                     share * static_cast<double>(held_.bytes), Work::Unit::link);
        return cards_[i]->launch(how, reduce_args(i));
      });
      if (!took) return fail(took.error());
      seconds += *took;
    }
    return seconds;
  }

  // The first card whose sums are wrong at one of a few places.
  Result<std::optional<std::uint32_t>> wrong_sums() {
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      auto host = HostMemory::take(*cards_[i], held_.bytes);
      if (!host) return fail(host.error());
      if (auto ok = cards_[i]->from_card(host->as<void>(), held_.sums[i].address(), held_.bytes,
                                         Queue::first);
          !ok) {
        return fail(ok.error());
      }
      if (auto ok = cards_[i]->wait(); !ok) return fail(ok.error());
      const std::uint64_t words = held_.bytes / sizeof(std::uint32_t);
      for (std::uint64_t at = 0; at < words; at += 1021) {
        std::uint32_t sum = 0;
        for (std::uint32_t card = 0; card < cards_.size(); ++card)
          sum += expected_word(Pattern::address, card, at);
        if (host->as<std::uint32_t>()[at] != sum) return std::optional(cards_[i]->facts().index);
      }
    }
    return std::optional<std::uint32_t>{};
  }

  void all_reduce() {
    if (cards_.size() > most_reduced_cards) {
      return tell("all_reduce", fail(ErrorCode::not_supported, "more than 16 cards"), 0,
                  std::nullopt);
    }
    std::vector<double> seconds;
    for (std::uint32_t i = 0; i <= sizes_for(cards_.front()->facts()).repeats; ++i) {
      const auto took = reduce_once();
      if (!took) return tell("all_reduce", took, 0, std::nullopt);
      if (i > 0) seconds.push_back(*took);
    }
    const auto wrong = wrong_sums();
    if (!wrong) return tell("all_reduce", fail(wrong.error()), 0, std::nullopt);
    const double share =
        static_cast<double>(cards_.size() - 1) / static_cast<double>(cards_.size());
    tell("all_reduce", median_of(seconds), 2 * share * static_cast<double>(held_.bytes), *wrong);
  }

  const Cards& cards_;
  PeerArrays held_;
  std::vector<Measurement> out_;
};

}  // namespace

std::vector<Measurement> check_peers(const Cards& cards) { return PeerCheck(cards).run(); }

}  // namespace stoker::diag
