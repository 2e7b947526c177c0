#include "diag/host_card.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "diag/collectives.h"
#include "diag/kernels/compute.h"
#include "diag/kernels/matrix.h"

namespace stoker::diag {
namespace {

constexpr std::uint64_t alignment = 256;
constexpr double call_seconds = 2e-6;  // what a copy takes that has no bytes

bool computes(Kernel kernel) {
  return kernel == Kernel::compute || kernel == Kernel::compute_tensor75 ||
         kernel == Kernel::compute_tensor80 || kernel == Kernel::compute_tensor89;
}

bool multiplies(Kernel kernel) {
  return kernel == Kernel::matrix75 || kernel == Kernel::matrix80 || kernel == Kernel::matrix90;
}

class HostCard final : public Card {
 public:
  explicit HostCard(HostCardOptions options)
      : options_(std::move(options)),
        memory_(options_.facts.memory_bytes / sizeof(std::uint32_t)),
        free_({{0, options_.facts.memory_bytes}}) {}

  [[nodiscard]] const CardFacts& facts() const override { return options_.facts; }

  Result<FreeMemory> memory() override {
    if (auto ok = alive(); !ok) return fail(ok.error());
    FreeMemory out{.total_bytes = options_.facts.memory_bytes};
    for (const auto& [offset, bytes] : free_) out.free_bytes += bytes;
    return out;
  }

  Result<Address> allocate(std::uint64_t bytes) override {
    if (auto ok = alive(); !ok) return fail(ok.error());
    const std::uint64_t needed = (bytes + alignment - 1) / alignment * alignment;
    const auto place =
        std::ranges::find_if(free_, [needed](const auto& hole) { return hole.second >= needed; });
    if (options_.faults.no_memory || place == free_.end()) {
      return fail(ErrorCode::unavailable, "out of memory");
    }
    const auto [offset, size] = *place;
    free_.erase(place);
    if (size > needed) free_[offset + needed] = size - needed;
    taken_[offset] = needed;
    return base() + offset;
  }

  void release(Address address) override {
    const auto taken = taken_.find(address - base());
    auto [offset, bytes] = *taken;
    taken_.erase(taken);
    const auto next = free_.find(offset + bytes);
    if (next != free_.end()) {
      bytes += next->second;
      free_.erase(next);
    }
    free_[offset] = bytes;
    const auto here = free_.find(offset);
    if (here == free_.begin()) return;
    const auto before = std::prev(here);
    if (before->first + before->second != offset) return;
    before->second += bytes;
    free_.erase(here);
  }

  Result<void*> allocate_host(std::uint64_t bytes) override {
    if (auto ok = alive(); !ok) return fail(ok.error());
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void release_host(void* memory) override { std::free(memory); }

  Result<void> to_card(Address to, const void* from, std::uint64_t bytes, Queue queue) override {
    return move(at(to), from, bytes, options_.rates.pcie / options_.faults.slow_pcie, queue);
  }
  Result<void> from_card(void* to, Address from, std::uint64_t bytes, Queue queue) override {
    return move(to, at(from), bytes, options_.rates.pcie / options_.faults.slow_pcie, queue);
  }
  Result<void> from_peer(Address to, Card& peer, Address from, std::uint64_t bytes,
                         Queue queue) override {
    const double slower = std::max(options_.faults.slow_link,
                                   dynamic_cast<HostCard&>(peer).options_.faults.slow_link);
    return move(at(to), at(from), bytes, options_.rates.link / slower, queue);
  }
  Result<void> open_peer(Card& peer) override {
    if (!options_.faults.no_peer && !dynamic_cast<HostCard&>(peer).options_.faults.no_peer)
      return {};
    return fail(ErrorCode::not_supported, "the two cards can't reach each other's memory");
  }
  Result<TensorMap> tensor_map(Address /*matrix*/, const MatrixShape& /*shape*/) override {
    return TensorMap{};
  }
  Result<void> library_product(const MatrixArgs& /*args*/) override {
    return fail(ErrorCode::not_supported, "a simulated card has no cuBLAS");
  }
  Result<std::unique_ptr<Collectives>> collectives(const Cards& cards) override;
  Result<void> zero(Address address, std::uint64_t bytes) override {
    if (auto ok = alive(); !ok) return ok;
    std::memset(at(address), 0, bytes);
    return {};
  }

  Result<void> wait() override { return alive(); }

  Result<double> timed(const std::function<Result<void>()>& work) override {
    busy_ = {};
    if (auto done = work(); !done) return fail(done.error());
    return std::max(busy_[0], busy_[1]);
  }

 protected:
  Result<void> launch_raw(const Launch& how, const void* args, std::size_t /*size*/) override {
    if (auto ok = alive(); !ok) return ok;
    while (options_.faults.hangs) ::pause();
    ComputeArgs faulty{};
    if (options_.faults.wrong_multiprocessor >= 0 && computes(how.kernel)) {
      faulty = *static_cast<const ComputeArgs*>(args);
      faulty.wrong_sm = options_.faults.wrong_multiprocessor;
      args = &faulty;
    }
    const std::uint32_t workers = std::min(how.blocks, options_.facts.multiprocessors);
    if (how.blocks * how.threads < least_threaded) {
      for (std::uint32_t sm = 0; sm < workers; ++sm) run_blocks(how, args, sm);
    } else {
      std::vector<std::jthread> threads;
      const std::uint32_t real =
          std::min(workers, std::max(1U, std::thread::hardware_concurrency()));
      threads.reserve(real);
      for (std::uint32_t first = 0; first < real; ++first) {
        threads.emplace_back([&, first] {
          for (std::uint32_t sm = first; sm < workers; sm += real) run_blocks(how, args, sm);
        });
      }
    }
    if (options_.faults.wrong_multiprocessor >= 0 && multiplies(how.kernel)) {
      spoil_rows(*static_cast<const MatrixArgs*>(args));
    }
    stick();
    spend(how.queue, seconds_of(how.work));
    return {};
  }

 private:
  friend class HostCollectives;
  static constexpr std::uint32_t least_threaded = 4096;

  [[nodiscard]] Address base() const { return reinterpret_cast<Address>(memory_.data()); }
  static void* at(Address address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the tests
    return reinterpret_cast<void*>(address);
  }

  [[nodiscard]] Result<void> alive() const {
    if (!options_.faults.dead) return {};
    return fail(ErrorCode::io, "an uncorrectable memory error was met (simulated)");
  }

  void run_blocks(const Launch& how, const void* args, std::uint32_t sm) const {
    const KernelRow& kernel = row_of(how.kernel);
    Thread thread{.blocks = how.blocks, .lanes = how.threads, .sm = sm};
    for (thread.block = sm; thread.block < how.blocks;
         thread.block += options_.facts.multiprocessors) {
      for (thread.lane = 0; thread.lane < how.threads; ++thread.lane) kernel.body(thread, args);
    }
  }

  // What the wrong multiprocessor made of its share of a product.
  void spoil_rows(const MatrixArgs& args) const {
    const auto wrong = static_cast<std::uint32_t>(options_.faults.wrong_multiprocessor);
    for (std::uint32_t row = wrong; row < args.m; row += options_.facts.multiprocessors) {
      for (std::uint32_t i = 0; i < args.n; ++i) args.c[std::uint64_t{row} * args.n + i] ^= 0x4000U;
    }
  }

  Result<void> move(void* to, const void* from, std::uint64_t bytes, double rate, Queue queue) {
    if (auto ok = alive(); !ok) return ok;
    std::memcpy(to, from, bytes);
    stick();
    spend(queue, bytes <= 64 ? call_seconds : static_cast<double>(bytes) / rate);
    return {};
  }

  void stick() {
    if (!options_.faults.stuck_bit) return;
    const StuckBit& stuck = *options_.faults.stuck_bit;
    std::uint32_t& word = memory_.at(stuck.word);
    const std::uint32_t mask = 1U << stuck.bit;
    word = stuck.value ? word | mask : word & ~mask;
  }

  [[nodiscard]] double seconds_of(const Work& work) const {
    const HostFaults& faults = options_.faults;
    const HostRates& rates = options_.rates;
    switch (work.unit) {
      case Work::Unit::memory: return work.bytes / (rates.memory / faults.slow_memory);
      case Work::Unit::link: return work.bytes / (rates.link / faults.slow_link);
      case Work::Unit::general: return work.operations / rates.general;
      case Work::Unit::tensor: break;
    }
    return work.operations / (rates.tensor / faults.slow_tensor);
  }
  void spend(Queue queue, double seconds) { busy_.at(static_cast<std::size_t>(queue)) += seconds; }

  const HostCardOptions options_;
  std::vector<std::uint32_t> memory_;
  std::map<std::uint64_t, std::uint64_t> free_;   // offset -> bytes
  std::map<std::uint64_t, std::uint64_t> taken_;  // the same of what is allocated
  std::array<double, 2> busy_{};                  // seconds, by queue
};

// In the place of NCCL: sums by this thread, as long as the slowest link of them takes for what a ring sends over it.
class HostCollectives final : public Collectives {
 public:
  explicit HostCollectives(const Cards& cards) {
    cards_.reserve(cards.size());
    for (const auto& card : cards) cards_.push_back(&dynamic_cast<HostCard&>(*card));
  }
  [[nodiscard]] std::string version() const override { return "simulated NCCL"; }

  Result<void> all_reduce(const std::vector<std::uint64_t>& from,
                          const std::vector<std::uint64_t>& to, std::uint64_t words) override {
    double longest = 0;
    const auto count = static_cast<double>(cards_.size());
    const bool rests = std::exchange(worked_, true);
    for (HostCard* card : cards_) {
      if (auto ok = card->alive(); !ok) return ok;
      if (card->options_.faults.nccl_rests && rests) return {};
      while (card->options_.faults.nccl_hangs) ::pause();
      const double bytes =
          2 * (count - 1) / count * static_cast<double>(words) * sizeof(std::uint32_t);
      longest = std::max(longest, card->seconds_of({.bytes = bytes, .unit = Work::Unit::link}));
    }
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      auto* const sums = static_cast<std::uint32_t*>(HostCard::at(to.at(i)));
      for (std::uint64_t word = 0; word < words; ++word) sums[word] = sum_of(from, word);
      if (cards_[i]->options_.faults.nccl_wrong) sums[0] ^= 1U;
      cards_[i]->stick();
      cards_[i]->spend(Queue::first, longest);
    }
    return {};
  }

 private:
  static std::uint32_t sum_of(const std::vector<std::uint64_t>& from, std::uint64_t word) {
    std::uint32_t sum = 0;
    for (const std::uint64_t array : from)
      sum += static_cast<const std::uint32_t*>(HostCard::at(array))[word];
    return sum;
  }

  std::vector<HostCard*> cards_;
  bool worked_ = false;
};

Result<std::unique_ptr<Collectives>> HostCard::collectives(const Cards& cards) {
  if (options_.faults.no_nccl)
    return fail(ErrorCode::not_supported, "a simulated card without a library of collectives");
  if (options_.faults.nccl_refuses)
    return fail(ErrorCode::not_supported, "simulated NCCL: it does not start");
  return std::make_unique<HostCollectives>(cards);
}

}  // namespace

std::unique_ptr<Card> make_host_card(HostCardOptions options) {
  return std::make_unique<HostCard>(std::move(options));
}

}  // namespace stoker::diag
