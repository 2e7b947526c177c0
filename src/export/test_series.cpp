#include "export/test_series.h"

#include <algorithm>

#include "base/duration.h"
#include "export/labels.h"

namespace stoker::exporting {
namespace {

class TestSeries {
 public:
  TestSeries(Exposition& out, const store::Snapshot& snapshot,
             const std::vector<std::string>& labels)
      : out_(out), snapshot_(snapshot), labels_(labels) {}

  void write() {
    out_.family("stoker_gpu_test_state", MetricType::gauge,
                "1 for where the schedule of tests has this GPU, else 0");
    for_each_card([this](const std::string& gpu, const CardTests& card) {
      for (int n = 0; n < static_cast<int>(TestState::count_); ++n) {
        const auto state = static_cast<TestState>(n);
        out_.sample(with(gpu, "state", to_string(state)),
                    std::int64_t{state == card.state ? 1 : 0});
      }
    });
    out_.family("stoker_gpu_test_last_timestamp_seconds", MetricType::gauge,
                "When all tests of the schedule's level were made on this GPU last", "seconds");
    for_each_card([this](const std::string& gpu, const CardTests& card) {
      if (card.tested) out_.sample(gpu, in_seconds(card.tested->since_epoch));
    });
    out_.family("stoker_gpu_test_next_timestamp_seconds", MetricType::gauge,
                "When this GPU is tested at the soonest, if nobody uses it until then", "seconds");
    for_each_card([this](const std::string& gpu, const CardTests& card) {
      if (card.next) out_.sample(gpu, in_seconds(card.next->since_epoch));
    });
    out_.family("stoker_gpu_test_last_run", MetricType::gauge,
                "How the schedule's last run on this GPU ended: so many ended so since the last "
                "one that tested it");
    for_each_card([this](const std::string& gpu, const CardTests& card) {
      if (card.last)
        out_.sample(with(gpu, "end", to_string(card.last->end)), std::int64_t{card.last->in_a_row});
    });
  }

 private:
  template <typename Do>
  void for_each_card(Do action) {
    const auto& cards = snapshot_.tests->cards;
    for (std::size_t n = 0; n < labels_.size(); ++n) {
      const auto card = std::ranges::find(cards, snapshot_.gpus[n].info.uuid, &CardTests::uuid);
      if (card != cards.end()) action(labels_[n], *card);
    }
  }

  Exposition& out_;
  const store::Snapshot& snapshot_;
  const std::vector<std::string>& labels_;
};

}  // namespace

void write_tests(Exposition& out, const store::Snapshot& snapshot,
                 const std::vector<std::string>& labels) {
  if (snapshot.tests != nullptr) TestSeries(out, snapshot, labels).write();
}

}  // namespace stoker::exporting
