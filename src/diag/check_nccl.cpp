#include "diag/check_nccl.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "diag/collectives.h"
#include "diag/median.h"
#include "diag/peer_arrays.h"
#include "diag/sizes.h"

namespace stoker::diag {
namespace {

// One after the other without the host in between, as nccl-tests does it.
constexpr std::uint32_t reductions_at_once = 5;

class NcclCheck {
 public:
  explicit NcclCheck(const Cards& cards) : cards_(cards) {}

  std::vector<Measurement> run() {
    if (cards_.size() < 2)
      return for_all(Error(ErrorCode::not_supported, "there is no other card to reach"));
    auto library = cards_.front()->collectives(cards_);
    if (!library) return for_all(library.error());
    auto held = PeerArrays::take(cards_);
    if (!held) return not_done_together("nccl_all_reduce", cards_, held.error());
    std::optional<Error> refused;
    const auto seconds = median_of_all(**library, *held, refused);
    if (refused) return for_all(*refused);
    if (!seconds) return not_done_together("nccl_all_reduce", cards_, seconds.error());
    return results(**library, *held, *seconds);
  }

 private:
  [[nodiscard]] std::vector<Measurement> for_all(const Error& error) const {
    std::vector<Measurement> out;
    out.reserve(cards_.size());
    for (const auto& card : cards_)
      out.push_back(not_done("nccl_all_reduce", card->facts().index, error));
    return out;
  }

  // Of one all-reduce, after one batch that does not count: the library connects the cards in it.
  // `refused`: what the library itself says, which is no card's.
  OfCards<double> median_of_all(Collectives& library, const PeerArrays& held,
                                std::optional<Error>& refused) {
    std::vector<std::uint64_t> from;
    std::vector<std::uint64_t> to;
    from.reserve(cards_.size());
    to.reserve(cards_.size());
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      from.push_back(held.array(i).address());
      to.push_back(held.sums(i).address());
    }
    const std::uint32_t batch = cards_.front()->facts().simulated ? 1 : reductions_at_once;
    const std::uint32_t repeats = sizes_for(cards_.front()->facts()).repeats;
    std::vector<double> seconds;
    seconds.reserve(repeats);
    for (std::uint32_t i = 0; i <= repeats; ++i) {
      // What is looked at afterwards is what the last one has made.
      if (i == repeats) {
        if (auto ok = held.clear_sums(); !ok) return tl::unexpected(ok.error());
      }
      Together together(cards_);
      const auto took = together.timed([&](std::size_t card) -> Result<void> {
        if (card != 0) return {};  // the library has put it into all queues
        for (std::uint32_t n = 0; n < batch; ++n) {
          if (auto ok = library.all_reduce(from, to, held.bytes() / sizeof(std::uint32_t)); !ok) {
            refused = ok.error();
            return ok;
          }
        }
        return {};
      });
      if (!took) return tl::unexpected(took.error());
      if (i > 0) seconds.push_back(*took / batch);
    }
    return median_of(std::move(seconds));
  }

  // The library has its own ways from card to card: a wrong sum may be any card's on the way.
  [[nodiscard]] std::vector<Measurement> results(const Collectives& library, const PeerArrays& held,
                                                 double seconds) const {
    std::vector<Measurement> out;
    out.reserve(cards_.size());
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      const std::uint32_t gpu = cards_[i]->facts().index;
      const auto wrong = held.wrong_sums_of(i);
      if (!wrong) {
        out.push_back(not_done("nccl_all_reduce", gpu, wrong.error()));
        continue;
      }
      Measurement one{.test = "nccl_all_reduce",
                      .gpu = gpu,
                      .value = seconds > 0 ? held.bus_bytes() / seconds : 0,
                      .unit = "bytes_per_second",
                      .reason = library.version()};
      if (!wrong->empty()) {
        const auto& [slice, first] = *wrong->begin();
        one.outcome = Outcome::wrong;
        one.reason = fmt::format(
            "{}: the sums that came to this card are not those of all cards' arrays (word {}: "
            "{:#010x}); on their way any card or link may have made them so",
            library.version(), first.at, first.found);
      }
      out.push_back(std::move(one));
    }
    return out;
  }

  const Cards& cards_;
};

}  // namespace

std::vector<Measurement> check_nccl(const Cards& cards) { return NcclCheck(cards).run(); }

}  // namespace stoker::diag
