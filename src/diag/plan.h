// Diag stage: what a run does, as it is told to the worker process, and what the worker tells back. One message a packet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "diag/host_card.h"
#include "diag/measurement.h"
#include "diag/test_row.h"

namespace stoker::diag {

// What a run is made to do wrongly, to show that it is found.
struct Injection {
  std::uint32_t bit_flips = 0;  // between the first write and its check
  int wrong_multiprocessor = -1;
};

struct Plan {
  std::vector<CardName> cards;
  std::vector<Step> steps;
  Injection injection;
  double memory_share = 0.95;
  double load_seconds = 10;
  // So long after whoever asked for it is gone, or has asked it to end, the worker ends even where a call has not come back.
  double ends_within_seconds = 120;
  std::vector<HostCardOptions> simulated;  // not empty: these, and no real card
};

// `step` has begun on the card; Step::count_: the card is done.
struct Began {
  std::uint32_t gpu = 0;
  Step step = Step::count_;
};
// The run is over; `problem` says why it could not be, if so.
struct Ended {
  std::string problem;
};
// Said once: what runs the tests.
struct Opened {
  std::vector<std::string> notes;  // for people: CUDA's version, what is compiled for what
  std::vector<std::string>
      unopened;  // by card of the plan, in its order: empty, or why it could not be opened
};

using Message = std::variant<Plan, Opened, Began, Measurement, Ended>;

std::string encode(const Message& message);
// corrupt: it does not hold together, or is of another build.
Result<Message> decode(std::string_view bytes);

}  // namespace stoker::diag
