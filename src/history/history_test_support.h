// What the tests of the history build theirs from.
#pragma once

#include <string>

#include "history/history.h"
#include "store/store_test_support.h"

namespace stoker::history {

inline Nanoseconds second_or_ten(const Field& row) {
  return row.cost == CostClass::firmware ? Seconds(10) : Seconds(1);
}

inline HistoryOptions two_fields(std::size_t memory = std::size_t{8} << 20) {
  return {.fields = {FieldId::temperature, FieldId::energy},
          .node_fields = {FieldId::cpu_busy},
          .period_of = second_or_ten,
          .memory_bytes = memory};
}

// A history of `gpus` GPUs that hears readings when it is told to.
struct Watched {
  explicit Watched(unsigned gpus = 1, HistoryOptions options = two_fields())
      : history(clock, std::move(options)) {
    history.on_inventory(store::gpu_infos(gpus));
  }

  void read(std::int64_t value, FieldId field = FieldId::temperature, unsigned gpu = 0) {
    history.on_readings(store::pci_of(gpu),
                        {store::gpu_reading(field, Reading::of(value, clock.monotonic()))});
  }
  void read_each_second(int seconds, std::int64_t value) {
    for (int n = 0; n < seconds; ++n) {
      read(value);
      clock.advance(Seconds(1));
    }
  }
  std::vector<Answer::Value> ask(Nanoseconds since, Step step,
                                 FieldId field = FieldId::temperature) const {
    const auto answers = history.ask(field, since, step);
    return answers.empty() ? std::vector<Answer::Value>{} : answers.front().values;
  }
  std::string bytes() const {
    std::string all;
    EXPECT_TRUE(history.write_to([&all](std::string_view part) {
      all += part;
      return Result<void>{};
    }));
    return all;
  }

  ManualClock clock;
  History history;
};

}  // namespace stoker::history
