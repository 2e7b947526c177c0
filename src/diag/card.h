// Diag stage: the seam between a test and what runs it: a card through the CUDA driver (cuda_card.h), or threads of this
// host (host_card.h), which the tests without a card and simulated nodes use and which can be told to be faulty.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diag/kernel.h"

namespace stoker::diag {

struct CardFacts {
  std::uint32_t index = 0;  // CardName's
  std::string uuid;         // "GPU-…" or "MIG-…"
  std::string name;
  std::string pci;             // "0000:9a:00.0"; empty: not told
  int compute_capability = 0;  // 90 for 9.0
  std::uint32_t multiprocessors = 0;
  std::uint32_t shared_bytes = 0;  // the most that one block may have
  std::uint64_t memory_bytes = 0;
  bool simulated = false;
};

// How a run names a card.
struct CardName {
  std::uint32_t index = 0;  // as NVML counts
  std::string uuid;
};

// An address in the memory of a card; 0: none.
using Address = std::uint64_t;

// Two queues of a card run at once; what is in one of them runs in the order given.
enum class Queue : std::uint8_t { first, second };

// What a launch moves and computes, for rates; the host's threads tell their time by it.
struct Work {
  double bytes = 0;  // of device memory, read and written
  double operations = 0;
  enum class Unit : std::uint8_t { memory, general, tensor, link } unit = Unit::memory;
};

struct Launch {
  Kernel kernel = Kernel::fill;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
  std::uint32_t shared_bytes = 0;
  Work work;
  Queue queue = Queue::first;
  std::uint32_t cluster = 1;  // blocks that share their memory
};

// A matrix of 16-bit numbers as the copy engine takes it, in boxes (CUtensorMap: 128 bytes, aligned to 64).
struct alignas(64) TensorMap {
  std::array<std::uint64_t, 16> opaque{};
};
struct MatrixShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint32_t box_rows = 0;
  std::uint32_t box_columns = 0;
};
struct MatrixArgs;  // kernels/matrix.h

class Collectives;  // collectives.h
class Card;
// The cards of this process. They outlive every CardMemory of theirs.
using Cards = std::vector<std::unique_ptr<Card>>;

struct FreeMemory {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// One card, by one thread at a time. Errors: not_supported where this card or driver has no such thing; no_permission,
// unavailable where somebody else's use of it forbids; io for what the card or driver failed at, after which nothing of
// it can be trusted.
class Card {
 public:
  virtual ~Card() = default;
  [[nodiscard]] virtual const CardFacts& facts() const = 0;
  virtual Result<FreeMemory> memory() = 0;

  // Device memory, aligned to 256 bytes; unavailable: there is not so much.
  virtual Result<Address> allocate(std::uint64_t bytes) = 0;
  virtual void release(Address address) = 0;
  // Memory of the host that the card reaches by itself (pinned), near it where the driver knows.
  virtual Result<void*> allocate_host(std::uint64_t bytes) = 0;
  virtual void release_host(void* memory) = 0;

  // Each goes to its queue and may return before it is done; host memory has to be allocate_host()'s.
  virtual Result<void> to_card(Address to, const void* from, std::uint64_t bytes, Queue queue) = 0;
  virtual Result<void> from_card(void* to, Address from, std::uint64_t bytes, Queue queue) = 0;
  // From another card of this process to this one.
  virtual Result<void> from_peer(Address to, Card& peer, Address from, std::uint64_t bytes,
                                 Queue queue) = 0;
  // Lets kernels of this card read and write memory of `peer`; not_supported: the two have no such way.
  virtual Result<void> open_peer(Card& peer) = 0;
  // For bf16 numbers, rows of a box exchanged as wgmma reads them; not_supported before Hopper.
  virtual Result<TensorMap> tensor_map(Address matrix, const MatrixShape& shape) = 0;
  // What the vendor's library (cuBLAS) makes of the same arrays; not_supported: it is not installed here.
  virtual Result<void> library_product(const MatrixArgs& args) = 0;
  // The vendor's library of collectives (NCCL) for `cards`, this one first, all of the same kind; not_supported: it is not
  // installed here; not_found: it does not start. It ends before they do.
  virtual Result<std::unique_ptr<Collectives>> collectives(const Cards& cards) = 0;
  virtual Result<void> zero(Address address, std::uint64_t bytes) = 0;  // bytes: a multiple of 4

  template <typename Args>
  Result<void> launch(const Launch& how, const Args& args) {
    return launch_raw(how, &args, sizeof args);
  }
  // Waits for both queues; tells what went wrong in them.
  virtual Result<void> wait() = 0;
  // Runs `work`, which fills the queues of this card, and waits for it: seconds that the card took.
  virtual Result<double> timed(const std::function<Result<void>()>& work) = 0;

 protected:
  virtual Result<void> launch_raw(const Launch& how, const void* args, std::size_t size) = 0;
};

// What a test holds of a card's memory; given back at the end of its life.
class CardMemory {
 public:
  static Result<CardMemory> take(Card& card, std::uint64_t bytes) {
    const auto address = card.allocate(bytes);
    if (!address) return fail(address.error());
    return CardMemory(card, *address, bytes);
  }
  CardMemory(CardMemory&& other) noexcept
      : card_(other.card_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}
  CardMemory& operator=(CardMemory&&) = delete;
  CardMemory(const CardMemory&) = delete;
  CardMemory& operator=(const CardMemory&) = delete;
  ~CardMemory() {
    if (address_ != 0) card_->release(address_);
  }

  [[nodiscard]] Address address() const { return address_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // As a kernel's argument.
  template <typename T>
  [[nodiscard]] T* as(std::uint64_t offset = 0) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the card's address, not ours
    return reinterpret_cast<T*>(address_ + offset);
  }

 private:
  CardMemory(Card& card, Address address, std::uint64_t bytes)
      : card_(&card), address_(address), bytes_(bytes) {}
  Card* card_;
  Address address_;
  std::uint64_t bytes_;
};

// The same of pinned memory of the host.
class HostMemory {
 public:
  static Result<HostMemory> take(Card& card, std::uint64_t bytes) {
    const auto memory = card.allocate_host(bytes);
    if (!memory) return fail(memory.error());
    return HostMemory(card, *memory);
  }
  HostMemory(HostMemory&& other) noexcept
      : card_(other.card_), memory_(std::exchange(other.memory_, nullptr)) {}
  HostMemory& operator=(HostMemory&&) = delete;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() {
    if (memory_ != nullptr) card_->release_host(memory_);
  }
  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  HostMemory(Card& card, void* memory) : card_(&card), memory_(memory) {}
  Card* card_;
  void* memory_;
};

}  // namespace stoker::diag
