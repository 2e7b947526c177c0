// Diag stage: a card made of this host's memory and threads. A kernel's body runs as it is, a thread of the host for
// each multiprocessor; times are not measured but follow from the rates below, so that a slow link is slow on any
// machine. What it is told to be faulty in, every test has to find.
#pragma once

#include <memory>
#include <optional>

#include "diag/card.h"

namespace stoker::diag {

// A second: bytes, or operations.
struct HostRates {
  double memory = 3e12;
  double general = 60e12;
  double tensor = 700e12;
  double pcie = 55e9;  // each way
  double link = 350e9;
};

struct StuckBit {
  std::uint64_t word = 0;  // 32-bit word of the card's memory
  std::uint32_t bit = 0;
  bool value = true;
};

struct HostFaults {
  std::optional<StuckBit> stuck_bit;
  int wrong_multiprocessor = -1;  // computes wrongly
  double slow_memory = 1;         // its rate is divided by this; likewise the others
  double slow_pcie = 1;
  double slow_link = 1;
  double slow_tensor = 1;     // as a card that holds its clocks down
  bool no_memory = false;     // every allocation fails
  bool no_peer = false;       // reaches no other card
  bool dead = false;          // every call fails, as after an uncorrectable error
  bool hangs = false;         // a launch does not return
  bool no_nccl = false;       // there is no library of collectives
  bool nccl_refuses = false;  // it is there and does not start
  bool nccl_rests = false;    // it does nothing from the second all-reduce on
  bool nccl_hangs = false;    // an all-reduce of it does not return
  bool nccl_wrong = false;    // what it brings to this card is wrong
};

struct HostCardOptions {
  CardFacts facts;
  HostRates rates;
  HostFaults faults;
};

std::unique_ptr<Card> make_host_card(HostCardOptions options);

}  // namespace stoker::diag
