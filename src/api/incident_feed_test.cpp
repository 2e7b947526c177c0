// Who listens is told each revision once, and after a pause what was missed.
#include "api/incident_feed.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/service.h"
#include "model/incident_test_support.h"

namespace stoker::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Feed : public ::testing::Test {
 protected:
  Incident make(std::uint64_t id, std::uint64_t revision,
                IncidentState state = IncidentState::open) {
    Incident one = off_bus_incident(id, state);
    one.revision = revision;
    return one;
  }
  void tell(const Incident& one) {
    std::erase_if(kept_, [&](const Incident& old) { return old.id == one.id; });
    kept_.push_back(one);
    feed_.tell({one});
  }
  std::shared_ptr<net::EventStream> listen(const std::string& last_id = {}) {
    auto stream = feed_.listen(last_id);
    return stream ? *stream : nullptr;
  }
  // "anew", or the id.
  static std::vector<std::string> heard(net::EventStream& stream) {
    net::EventReader reader;
    std::vector<std::string> all;
    for (const auto& event : reader.read(stream.take())) {
      all.push_back(event.name == "incident" ? event.id : event.name);
      if (event.name == "incident") {
        EXPECT_THAT(event.data, HasSubstr(fmt::format(R"("id":{},"revision":{},)",
                                                      event.id.substr(0, event.id.find('-')),
                                                      event.id.substr(event.id.find('-') + 1))));
      }
    }
    return all;
  }

  std::vector<Incident> kept_;
  IncidentFeed feed_{[this] { return kept_; }};
};

TEST_F(Feed, BeginsWithWhatIsOpenAndTellsEachRevisionOnce) {
  kept_ = {make(1, 4), make(2, 2, IncidentState::resolved), make(3, 1)};
  feed_.begin();
  const auto stream = listen();
  EXPECT_THAT(heard(*stream), ElementsAre("anew", "1-4", "3-1"));
  tell(make(3, 1));
  tell(make(3, 2));
  tell(make(3, 3, IncidentState::resolved));
  EXPECT_THAT(heard(*stream), ElementsAre("3-2", "3-3"));
}

TEST_F(Feed, DoesNotTellWhatIsNotWrittenYet) {
  kept_ = {make(1, 4)};
  feed_.begin();
  kept_ = {make(1, 5), make(2, 1)};
  const auto stream = listen();
  EXPECT_THAT(heard(*stream), ElementsAre("anew"));
  feed_.tell(kept_);
  EXPECT_THAT(heard(*stream), ElementsAre("1-5", "2-1"));
}

TEST_F(Feed, GoesOnWhereSomebodyStoppedListening) {
  for (std::uint64_t n = 1; n <= 5; ++n) tell(make(1, n));
  EXPECT_THAT(heard(*listen("1-3")), ElementsAre("1-4", "1-5"));
  EXPECT_THAT(heard(*listen("1-5")), IsEmpty());
  EXPECT_THAT(heard(*listen("9-9")), ElementsAre("anew", "1-5"));
  for (std::uint64_t n = 6; n <= 5 + IncidentFeed::kept_events; ++n) tell(make(1, n));
  EXPECT_THAT(heard(*listen("1-3")), ElementsAre("anew", "1-261"));
}

TEST_F(Feed, KeepsOfLongTextsWhatItHasRoomFor) {
  Incident one = make(1, 1);
  for (; one.revision < IncidentFeed::kept_events; ++one.revision) {
    one.fix = std::string(16 << 10, 'x');
    tell(one);
  }
  EXPECT_THAT(heard(*listen("1-100")), ElementsAre("anew", "1-255"));
  EXPECT_THAT(heard(*listen("1-254")), ElementsAre("1-255"));
}

TEST_F(Feed, HasRoomForSoManyAndForAnotherWhenOneHasGone) {
  std::vector<std::shared_ptr<net::EventStream>> all;
  for (std::size_t n = 0; n < IncidentFeed::most_listeners; ++n) all.push_back(listen());
  const auto refused = feed_.listen("");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("32 listen already"));
  all[3]->detach();
  EXPECT_TRUE(feed_.listen(""));
}

TEST_F(Feed, EndsThemWithItself) {
  std::shared_ptr<net::EventStream> stream;
  {
    IncidentFeed feed([] { return std::vector<Incident>(); });
    stream = *feed.listen("");
  }
  EXPECT_EQ(stream->state(), net::EventStream::State::ended);
}

TEST_F(Feed, IsAPageOfTheService) {
  Service service([] { return store::Snapshot{}; }, {.incident_feed = &feed_});
  const auto answer =
      service.answer({.method = "GET", .path = "/api/v1/incidents/events", .last_event_id = "x"});
  EXPECT_EQ(answer.content_type, "text/event-stream");
  ASSERT_TRUE(answer.stream);
  EXPECT_THAT(heard(*answer.stream), ElementsAre("anew"));
  EXPECT_EQ(
      service.answer({.method = "GET", .path = "/api/v1/incidents/events", .query = "a=b"}).status,
      400);
  for (std::size_t n = 1; n < IncidentFeed::most_listeners; ++n) listen();
  const auto full = service.answer({.method = "GET", .path = "/api/v1/incidents/events"});
  EXPECT_EQ(full.status, 503);
  EXPECT_THAT(full.body, HasSubstr("end one of them"));
}

}  // namespace
}  // namespace stoker::api
