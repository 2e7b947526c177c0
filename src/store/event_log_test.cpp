#include "store/event_log.h"

#include <gtest/gtest.h>

namespace stoker::store {
namespace {

Event event(std::uint64_t offset, const std::string& text = "fell off") {
  Event one;
  one.text = text;
  one.origin = {"boot", "/dev/kmsg", offset};
  return one;
}

std::vector<std::uint64_t> offsets(const EventsKept& kept) {
  std::vector<std::uint64_t> all;
  for (const auto& each : kept.events) all.push_back(each.event.origin.offset);
  return all;
}

TEST(EventLog, ASourceThatIsReadTwiceAddsNothing) {
  EventLog log;
  log.add({event(1), event(2)});
  log.add({event(1), event(2), event(3)});
  EXPECT_EQ(offsets(log.kept()), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(log.kept().told, 3U);
}

TEST(EventLog, SeveralEventsOfOneRecordAreAllKept) {
  EventLog log;
  log.add({event(1, "Xid 79"), event(1, "Xid 154")});
  EXPECT_EQ(log.kept().events.size(), 2U);
}

TEST(EventLog, TheOldestMakeRoomAndNumbersGoOn) {
  EventLog log(3);
  for (std::uint64_t n = 1; n <= 10; ++n) log.add({event(n)});
  EXPECT_EQ(offsets(log.kept()), (std::vector<std::uint64_t>{8, 9, 10}));
  EXPECT_EQ(log.kept().told, 10U);
  EXPECT_EQ(log.kept().events.back().number, 10U);
  EXPECT_EQ(offsets(log.kept(9)), (std::vector<std::uint64_t>{10}));
}

TEST(EventLog, ALongTextIsCut) {
  EventLog log;
  log.add({event(1, std::string(100'000, 'x'))});
  EXPECT_EQ(log.kept().events.at(0).event.text.size(), EventLog::longest_text);
}

TEST(EventLog, OfASourceTheLastWordCounts) {
  EventLog log;
  log.on_source({.name = "/dev/kmsg", .followed = true, .records = 1});
  log.on_source({.name = "/dev/kmsg", .followed = false, .problem = "gone", .records = 2});
  ASSERT_EQ(log.sources().size(), 1U);
  EXPECT_EQ(log.sources()[0].problem, "gone");
}

}  // namespace
}  // namespace stoker::store
