#include "diag/peer_arrays.h"

#include <fmt/format.h>

#include <utility>

#include "diag/kernels/memory.h"
#include "diag/run_shape.h"
#include "diag/sizes.h"

namespace stoker::diag {

std::vector<Measurement> not_done_together(const std::string& test, const Cards& cards,
                                           const CardError& error) {
  std::vector<Measurement> out;
  out.reserve(cards.size());
  const std::uint32_t whose = cards.at(error.card)->facts().index;
  for (const auto& card : cards) {
    const std::uint32_t gpu = card->facts().index;
    if (gpu == whose) {
      out.push_back(not_done(test, gpu, error.error));
      continue;
    }
    out.push_back(
        {.test = test,
         .gpu = gpu,
         .outcome = Outcome::hindered,
         .reason = fmt::format("GPU {} could not take part: {}", whose, error.error.describe())});
  }
  return out;
}

OfCards<PeerArrays> PeerArrays::take(const Cards& cards) {
  PeerArrays out(cards);
  const Sizes sizes = sizes_for(cards.front()->facts());
  // A multiple of the cards' slices.
  const std::uint64_t grain = cards.size() * sizeof(Words) * 64;
  out.bytes_ = sizes.transfer_bytes / grain * grain;
  out.arrays_.reserve(cards.size());
  out.sums_.reserve(cards.size());
  for (std::size_t i = 0; i < cards.size(); ++i) {
    for (auto* list : {&out.arrays_, &out.sums_}) {
      auto memory = CardMemory::take(*cards[i], out.bytes_);
      if (!memory) return fail_of(i, memory.error());
      list->push_back(std::move(*memory));
    }
  }
  if (auto ok = out.fill(); !ok) return tl::unexpected(ok.error());
  return out;
}

OfCards<void> PeerArrays::fill() {
  for (std::size_t i = 0; i < cards_->size(); ++i) {
    Card& card = *(*cards_)[i];
    const FillArgs args{arrays_[i].as<Words>(), bytes_ / sizeof(Words), 0,
                        static_cast<std::uint32_t>(Pattern::address),
                        static_cast<std::uint32_t>(i)};
    const Launch how = streaming(card.facts(), Kernel::fill, static_cast<double>(bytes_));
    if (auto ok = card.launch(how, args); !ok) return fail_of(i, ok.error());
    if (auto ok = card.wait(); !ok) return fail_of(i, ok.error());
  }
  return {};
}

OfCards<void> PeerArrays::clear_sums() const {
  for (std::size_t i = 0; i < cards_->size(); ++i) {
    if (auto ok = (*cards_)[i]->zero(sums_[i].address(), bytes_); !ok)
      return fail_of(i, ok.error());
    if (auto ok = (*cards_)[i]->wait(); !ok) return fail_of(i, ok.error());
  }
  return {};
}

Result<std::map<std::size_t, WrongSum>> PeerArrays::wrong_sums_of(std::size_t card) const {
  Card& own = *(*cards_)[card];
  auto host = HostMemory::take(own, bytes_);
  if (!host) return fail(host.error());
  if (auto ok = own.from_card(host->as<void>(), sums_[card].address(), bytes_, Queue::first); !ok)
    return fail(ok.error());
  if (auto ok = own.wait(); !ok) return fail(ok.error());
  const std::uint64_t words = bytes_ / sizeof(std::uint32_t);
  std::map<std::size_t, WrongSum> out;
  for (std::uint64_t at = 0; at < words; at += 1021) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < cards_->size(); ++i)
      sum += expected_word(Pattern::address, i, at);
    const std::uint32_t found = host->as<std::uint32_t>()[at];
    if (found != sum) out.try_emplace(at / (words / cards_->size()), WrongSum{at, found});
  }
  return out;
}

Result<bool> PeerArrays::has_wrong_array(std::size_t card, std::uint64_t at) const {
  Card& own = *(*cards_)[card];
  auto host = HostMemory::take(own, sizeof(std::uint32_t));
  if (!host) return fail(host.error());
  if (auto ok =
          own.from_card(host->as<void>(), arrays_[card].address() + at * sizeof(std::uint32_t),
                        sizeof(std::uint32_t), Queue::first);
      !ok) {
    return fail(ok.error());
  }
  if (auto ok = own.wait(); !ok) return fail(ok.error());
  return *host->as<std::uint32_t>() !=
         expected_word(Pattern::address, static_cast<std::uint32_t>(card), at);
}

double PeerArrays::bus_bytes() const {
  const auto cards = static_cast<double>(cards_->size());
  return 2 * (cards - 1) / cards * static_cast<double>(bytes_);
}

}  // namespace stoker::diag
