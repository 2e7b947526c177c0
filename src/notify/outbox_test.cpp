// Each state of an incident arrives once, in spite of refusals, restarts and a target that is away.
#include "notify/outbox.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "model/incident_test_support.h"

namespace stoker::notify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Incident make(std::uint64_t id, std::uint64_t revision, IncidentState state = IncidentState::open,
              Severity severity = Severity::critical) {
  Incident one = off_bus_incident(id, state);
  one.revision = revision;
  one.severity = severity;
  return one;
}

class OutboxTest : public ::testing::Test {
 protected:
  std::unique_ptr<Outbox> open(TargetKind kind = TargetKind::webhook, std::string token_file = {}) {
    return std::make_unique<Outbox>(OutboxParts{
        .target = {kind, "webhook", "http://there/hook", std::move(token_file)},
        .node = "node-1",
        .least = Severity::warning,
        .clock = clock_,
        .on_sent =
            [this](const SentMark& sent) {
              const MutexLock lock(mutex_);
              sent_.push_back(sent);
            },
        .send = [this](const net::ClientRequest& request) -> Result<net::ClientResponse> {
          requests_.push_back(request);
          if (answer_ == 0) return fail(ErrorCode::unavailable, "nobody is there");
          return net::ClientResponse{.status = answer_, .body = "the body"};
        }});
  }
  // Until nothing is due now.
  static Nanoseconds run(Outbox& outbox) {
    Nanoseconds wait{0};
    while (wait == Nanoseconds{0}) wait = outbox.send_due();
    return wait;
  }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (const auto& request : requests_) {
      for (const auto& [name, value] : request.headers) {
        if (name == "Idempotency-Key") all.push_back(value);
      }
    }
    requests_.clear();
    return all;
  }

  ManualClock clock_;
  int answer_ = 200;
  std::vector<net::ClientRequest> requests_;
  Mutex mutex_;
  std::vector<SentMark> sent_;  // of a thread only in the test that starts one
};

TEST_F(OutboxTest, TellsEachRevisionOnce) {
  const auto outbox = open();
  outbox->tell({make(1, 1)});
  outbox->tell({make(1, 1), make(2, 1)});
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/1/1", "node-1/2/1"));
  outbox->tell({make(1, 1), make(2, 2, IncidentState::resolved)});
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/2/2"));
  EXPECT_EQ(sent_.size(), 3U);
}

TEST_F(OutboxTest, TriesAgainLaterAndLaterAndSaysWhy) {
  answer_ = 0;
  const auto outbox = open();
  outbox->tell({make(1, 1)});
  std::vector<std::int64_t> waits;
  for (int n = 0; n < 11; ++n) {
    const auto wait = run(*outbox);
    waits.push_back(wait / Seconds(1));
    clock_.advance(wait);
  }
  EXPECT_THAT(waits, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300));
  ASSERT_TRUE(outbox->problem());
  EXPECT_THAT(outbox->problem()->evidence.front(), HasSubstr("nobody is there"));
  EXPECT_THAT(outbox->problem()->message, HasSubstr("1 wait for it, 0 were dropped"));
  answer_ = 202;
  keys();
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/1/1"));
  EXPECT_FALSE(outbox->problem());
}

TEST_F(OutboxTest, WhatIsRefusedForGoodDoesNotHoldUpWhatIsBehindIt) {
  answer_ = 400;
  const auto outbox = open();
  outbox->tell({make(1, 1)});
  clock_.advance(run(*outbox));
  answer_ = 200;
  // One more line of it is no reason to try again, another state is.
  outbox->tell({make(1, 1), make(2, 1)});
  keys();
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/2/1"));
  outbox->tell({make(1, 2)});
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/1/2"));
}

TEST_F(OutboxTest, OfAnIncidentThatWaitsTheNewestStateIsTold) {
  answer_ = 503;
  const auto outbox = open();
  outbox->tell({make(1, 1)});
  run(*outbox);
  outbox->tell({make(1, 2)});
  outbox->tell({make(1, 3)});
  clock_.advance(Seconds(60));
  answer_ = 200;
  keys();
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/1/3"));
}

TEST_F(OutboxTest, WaitingIsBounded) {
  answer_ = 0;
  const auto outbox = open();
  for (std::uint64_t id = 1; id <= Outbox::most_waiting + 10; ++id) outbox->tell({make(id, 1)});
  run(*outbox);
  EXPECT_THAT(outbox->problem()->message, HasSubstr("1024 wait for it, 10 were dropped"));
}

TEST_F(OutboxTest, AfterARestartOnlyWhatWasNotTakenIsTold) {
  const auto outbox = open();
  outbox->restore({make(1, 3), make(2, 4), make(3, 9, IncidentState::resolved),
                   make(4, 2, IncidentState::resolved)},
                  {{"webhook", 1, 3}, {"webhook", 2, 3}, {"webhook", 4, 1}, {"other", 3, 1}}, 3);
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/2/4", "node-1/4/2"));
}

TEST_F(OutboxTest, WhatBeganAndEndedWhileItsTargetWasAwayIsToldAfterARestart) {
  const auto outbox = open();
  outbox->restore(
      {make(1, 2, IncidentState::resolved), make(2, 3), make(3, 4, IncidentState::resolved)}, {},
      2);
  run(*outbox);
  EXPECT_THAT(keys(), ElementsAre("node-1/2/3", "node-1/3/4"));
}

TEST_F(OutboxTest, OneKeyHasOneBodyWhateverCameToTheIncidentSince) {
  answer_ = 503;
  const auto outbox = open();
  Incident one = make(1, 1);
  one.evidence = {{one.opened_at, "the first line"}};
  one.programs = {"pid 1"};
  one.occurrences = 1;
  one.told = telling_of(one);
  outbox->tell({one});
  clock_.advance(run(*outbox));
  one.evidence.push_back({one.opened_at, "one more line"});
  one.programs.emplace_back("pid 2");
  one.occurrences = 2;
  one.message = "said otherwise";
  one.fix = "and another way";
  one.source = "by somebody else";
  outbox->tell({one});
  answer_ = 200;
  run(*outbox);
  const auto restarted = open();
  restarted->restore({one}, {}, 0);
  run(*restarted);
  ASSERT_EQ(requests_.size(), 3U);
  EXPECT_THAT(requests_[0].body, HasSubstr(R"("evidence":["the first line"])"));
  EXPECT_EQ(requests_[1].body, requests_[0].body);
  EXPECT_EQ(requests_[2].body, requests_[0].body);
}

TEST_F(OutboxTest, WhatIsNotBadEnoughIsNotToldUnlessItWas) {
  const auto outbox = open();
  outbox->tell({make(1, 1, IncidentState::open, Severity::info)});
  run(*outbox);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(OutboxTest, RepeatsAlertsForAlertmanagerUntilTheyAreOver) {
  const auto outbox = open(TargetKind::alertmanager);
  outbox->tell({make(1, 1)});
  run(*outbox);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].url, "http://there/hook/api/v2/alerts");
  EXPECT_THAT(requests_[0].body, HasSubstr(R"("alertname":"StokerIncident")"));
  clock_.advance(Seconds(59));
  run(*outbox);
  EXPECT_EQ(requests_.size(), 1U);
  clock_.advance(Seconds(1));
  run(*outbox);
  EXPECT_EQ(requests_.size(), 2U);
  EXPECT_EQ(sent_.size(), 1U);
  outbox->tell({make(1, 2, IncidentState::resolved)});
  run(*outbox);
  EXPECT_THAT(requests_.back().body,
              HasSubstr(fmt::format(R"("endsAt":"{}")", format_utc(clock_.wall()))));
  clock_.advance(Seconds(600));
  run(*outbox);
  EXPECT_EQ(requests_.size(), 3U);
}

TEST_F(OutboxTest, ItsThreadSendsWhatIsToldWhileItWaits) {
  const auto outbox = open();
  outbox->start();
  outbox->tell({make(1, 1)});
  outbox->tell({make(1, 2)});
  const auto until = system_clock().monotonic() + Seconds(30);
  while (system_clock().monotonic() < until) {
    const MutexLock lock(mutex_);
    if (!sent_.empty() && sent_.back().revision == 2) break;
  }
  outbox->stop();
  ASSERT_FALSE(sent_.empty());
  EXPECT_EQ(sent_.back().revision, 2U);
}

TEST_F(OutboxTest, ASecretComesFromItsFileEachTimeAndIsNeverSentEmpty) {
  std::string name = (std::filesystem::temp_directory_path() / "stoker-token-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const std::string file = folder / "token";
  const auto outbox = open(TargetKind::webhook, file);
  outbox->tell({make(1, 1)});
  const auto wait = run(*outbox);
  EXPECT_THAT(requests_, IsEmpty());
  EXPECT_THAT(outbox->problem()->evidence.front(), HasSubstr(file));
  std::ofstream(file) << "secret\n";
  clock_.advance(wait);
  run(*outbox);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_THAT(requests_[0].headers, ::testing::Contains(std::pair<std::string, std::string>(
                                        "Authorization", "Bearer secret")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stoker::notify
