#include "diag/check_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/closest.h"
#include "diag/blame.h"
#include "diag/kernels/reduce.h"
#include "diag/measure_rates.h"
#include "diag/median.h"
#include "diag/peer_arrays.h"
#include "diag/run_shape.h"
#include "diag/sizes.h"

namespace stoker::diag {
namespace {

// Seconds that each card took while all were at it; where times follow from rates, one after the other.
template <typename Work>
std::vector<Result<double>> timed_each(const Cards& cards, Work work) {
  std::vector<Result<double>> out(cards.size(), 0.0);
  const auto one = [&](std::size_t i) { out[i] = cards[i]->timed([&] { return work(i); }); };
  if (cards.front()->facts().simulated) {
    for (std::size_t i = 0; i < cards.size(); ++i) one(i);
    return out;
  }
  std::vector<std::jthread> threads;
  threads.reserve(cards.size());
  for (std::size_t i = 0; i < cards.size(); ++i) threads.emplace_back(one, i);
  threads.clear();
  return out;
}

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
    auto held = PeerArrays::take(cards_);
    if (!held) return for_each(held.error());
    held_.emplace(std::move(*held));
    copies();
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

  [[nodiscard]] std::vector<Measurement> for_each(const CardError& error) const {
    std::vector<Measurement> out;
    for (const char* test : {"peer_copy", "peer_all", "all_reduce"})
      std::ranges::move(not_done_together(test, cards_, error), std::back_inserter(out));
    return out;
  }

  [[nodiscard]] std::string name_of(std::size_t card) const {
    return fmt::format("GPU {}", cards_[card]->facts().index);
  }

  Result<double> copy_rate(std::size_t to, std::size_t from) {
    Card& card = *cards_[to];
    const auto seconds = median_seconds(card, sizes_for(card.facts()).repeats, [&] {
      return card.from_peer(held_->sums(to).address(), *cards_[from], held_->array(from).address(),
                            held_->bytes(), Queue::first);
    });
    if (!seconds) return fail(seconds.error());
    return *seconds > 0 ? static_cast<double>(held_->bytes()) / *seconds : 0;
  }

  void copies() {
    PairRates rates(cards_.size(), std::vector<double>(cards_.size()));
    for (std::size_t to = 0; to < cards_.size(); ++to) {
      for (std::size_t from = 0; from < cards_.size(); ++from) {
        if (from == to) continue;
        const auto rate = copy_rate(to, from);
        if (!rate) {
          std::ranges::move(not_done_together("peer_copy", cards_, {to, rate.error()}),
                            std::back_inserter(out_));
          return;
        }
        rates[to][from] = *rate;
      }
    }
    blame_ = blame_slow_pairs(rates);
    for (std::size_t to = 0; to < cards_.size(); ++to) out_.push_back(slowest_copy(to, rates[to]));
  }

  // What is slow by the other card's fault is told and does not count.
  [[nodiscard]] Measurement slowest_copy(std::size_t to, const std::vector<double>& rates) const {
    Measurement out{
        .test = "peer_copy", .gpu = cards_[to]->facts().index, .unit = "bytes_per_second"};
    for (std::size_t from = 0; from < cards_.size(); ++from) {
      if (from == to) continue;
      const bool excused = blame_.excused[to][from];
      out.details.push_back(fmt::format("from {}: {:.1f} GB/s{}", name_of(from), rates[from] / 1e9,
                                        excused ? ", slow by that card's fault" : ""));
      if (excused || (!out.peer.empty() && rates[from] >= out.value)) continue;
      out.value = rates[from];
      out.peer = name_of(from);
    }
    if (!out.peer.empty()) return out;
    out.outcome = Outcome::hindered;
    out.reason = "every other card is slow by its own fault";
    return out;
  }

  [[nodiscard]] std::vector<std::string> blamed() const {
    std::vector<std::string> out;
    out.reserve(blame_.cards.size());
    for (std::size_t i = 0; i < blame_.cards.size(); ++i) {
      if (blame_.cards[i]) out.push_back(name_of(i));
    }
    return out;
  }

  void all_at_once() {
    const std::uint32_t copies =
        cards_.front()->facts().simulated ? 1 : 20;  // the host starts them one by one
    const auto source = [&](std::size_t to) { return (to + 1) % cards_.size(); };
    const auto seconds = timed_each(cards_, [&](std::size_t to) -> Result<void> {
      for (std::uint32_t i = 0; i < copies; ++i) {
        if (auto ok = cards_[to]->from_peer(held_->sums(to).address(), *cards_[source(to)],
                                            held_->array(source(to)).address(), held_->bytes(),
                                            Queue::first);
            !ok) {
          return ok;
        }
      }
      return {};
    });
    for (std::size_t to = 0; to < cards_.size(); ++to) {
      Measurement one =
          rate_of("peer_all", to, seconds[to], static_cast<double>(held_->bytes()) * copies);
      one.peer = name_of(source(to));
      const bool excused = !blame_.excused.empty() && blame_.excused[to][source(to)];
      if (excused && one.outcome == Outcome::measured) {
        one.outcome = Outcome::hindered;
        one.reason = fmt::format("it copies from {}, whose links are slow", one.peer);
      }
      out_.push_back(std::move(one));
    }
  }

  [[nodiscard]] Measurement rate_of(const std::string& test, std::size_t card,
                                    const Result<double>& seconds, double bytes) const {
    const std::uint32_t gpu = cards_[card]->facts().index;
    if (!seconds) return not_done(test, gpu, seconds.error());
    return {.test = test,
            .gpu = gpu,
            .value = *seconds > 0 ? bytes / *seconds : 0,
            .unit = "bytes_per_second"};
  }

  [[nodiscard]] ReduceArgs reduce_args(std::size_t card) const {
    ReduceArgs args{};
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      args.arrays[i] = held_->array(i).as<Words>();
      args.sums[i] = held_->sums(i).as<Words>();
    }
    args.cards = static_cast<std::uint32_t>(cards_.size());
    args.card = static_cast<std::uint32_t>(card);
    args.slice = held_->bytes() / sizeof(Words) / cards_.size();
    return args;
  }

  OfCards<double> reduce_once() {
    const double share =
        static_cast<double>(cards_.size() - 1) / static_cast<double>(cards_.size());
    double seconds = 0;
    for (const Kernel kernel : {Kernel::reduce_slice, Kernel::gather_slices}) {
      Together together(cards_);
      const auto took = together.timed([&](std::size_t i) {
        const Launch how = streaming(cards_[i]->facts(), kernel,
                                     share * static_cast<double>(held_->bytes()), Work::Unit::link);
        return cards_[i]->launch(how, reduce_args(i));
      });
      if (!took) return tl::unexpected(took.error());
      seconds += *took;
    }
    return seconds;
  }

  // By card, what is wrong by its fault. The owner of a slice adds it up, and the others fetch it from there: a word that is
  // wrong at its owner was added up wrongly, unless a card's array is wrong; one that is wrong elsewhere only came over wrongly.
  OfCards<std::map<std::size_t, std::string>> wrong_cards() {
    std::vector<std::map<std::size_t, WrongSum>> wrong;
    wrong.reserve(cards_.size());
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      auto found = held_->wrong_sums_of(i);
      if (!found) return fail_of(i, found.error());
      wrong.push_back(std::move(*found));
    }
    std::map<std::size_t, std::string> out;
    for (std::size_t owner = 0; owner < cards_.size(); ++owner) {
      if (const auto own = wrong[owner].find(owner); own != wrong[owner].end()) {
        if (auto ok = blame_sum(owner, own->second.at, out); !ok) return tl::unexpected(ok.error());
        continue;
      }
      for (std::size_t i = 0; i < cards_.size(); ++i) {
        if (wrong[i].contains(owner))
          out.try_emplace(i, fmt::format("what it fetched from {} is wrong, and right there: one "
                                         "of the two, or the link between them",
                                         name_of(owner)));
      }
    }
    return out;
  }
  OfCards<void> blame_sum(std::size_t owner, std::uint64_t at,
                          std::map<std::size_t, std::string>& out) {
    bool any = false;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      const auto wrong = held_->has_wrong_array(i, at);
      if (!wrong) return fail_of(i, wrong.error());
      if (*wrong)
        out.try_emplace(i, "what its memory gives to the sums is not what was written there");
      any = any || *wrong;
    }
    if (!any)
      out.try_emplace(owner, "the sums that it computes are not those of all cards' arrays");
    return {};
  }

  void all_reduce() {
    if (cards_.size() > most_reduced_cards) {
      for (const auto& card : cards_) {
        out_.push_back(not_done("all_reduce", card->facts().index,
                                Error(ErrorCode::not_supported, "more than 16 cards")));
      }
      return;
    }
    std::vector<double> seconds;
    const std::uint32_t repeats = sizes_for(cards_.front()->facts()).repeats;
    seconds.reserve(repeats);
    for (std::uint32_t i = 0; i <= repeats; ++i) {
      const auto took = reduce_once();
      if (!took) return give_up(took.error());
      if (i > 0) seconds.push_back(*took);
    }
    const auto wrong = wrong_cards();
    if (!wrong) return give_up(wrong.error());
    tell_reduced(median_of(seconds), *wrong);
  }

  void give_up(const CardError& error) {
    std::ranges::move(not_done_together("all_reduce", cards_, error), std::back_inserter(out_));
  }

  // All cards wait for the slowest of them: its time is no fault of the others.
  void tell_reduced(double seconds, const std::map<std::size_t, std::string>& wrong) {
    const auto slow = blamed();
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      Measurement one = rate_of("all_reduce", i, seconds, held_->bus_bytes());
      if (const auto found = wrong.find(i); found != wrong.end()) {
        one.outcome = Outcome::wrong;
        one.reason = found->second;
      } else if (one.outcome == Outcome::measured && !slow.empty() && !blame_.cards[i]) {
        one.outcome = Outcome::hindered;
        one.reason = "as slow as the links of " + listed(slow);
      }
      out_.push_back(std::move(one));
    }
  }

  const Cards& cards_;
  std::optional<PeerArrays> held_;
  PairBlame blame_;  // empty where the pairs were not measured
  std::vector<Measurement> out_;
};

}  // namespace

std::vector<Measurement> check_peers(const Cards& cards) { return PeerCheck(cards).run(); }

}  // namespace stoker::diag
