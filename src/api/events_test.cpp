// The events document, and what people see of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/events_document.h"
#include "api/events_view.h"

namespace stoker::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Event fell_off() {
  Event event;
  event.kind = EventKind::xid;
  event.code = 79;
  event.pci = PciAddress{.bus = 0x3b};
  event.text = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen\x1b[2J off the bus.";
  event.time = WallTime{Seconds(1'800'000'000)};
  event.origin = {"boot", "/dev/kmsg", 12};
  return event;
}

store::Snapshot one_gpu_node() {
  store::Snapshot snapshot;
  auto& gpu = snapshot.gpus.emplace_back();
  gpu.info.index = 3;
  gpu.info.uuid = "GPU-1";
  gpu.info.pci = PciAddress{.bus = 0x3b};
  return snapshot;
}

const std::vector<EventSource> followed = {{.name = "/dev/kmsg", .followed = true}};

std::string document(const std::vector<Event>& events, const std::vector<EventSource>& sources) {
  store::EventLog log;
  log.add(events);
  return events_document(log.kept(), sources, one_gpu_node());
}

TEST(EventsDocument, HasTheKeysOfTheContract) {
  const auto text = document({fell_off()}, followed);
  EXPECT_THAT(text, HasSubstr(R"("told":1,"sources":[{"name":"/dev/kmsg","followed":true,)"));
  EXPECT_THAT(
      text, HasSubstr(R"("number":1,"file":"/dev/kmsg","line":null,"line_reason":"not_applicable",)"
                      R"("time":"2027-01-15T08:00:00.000Z","gpu":3,"kind":"xid","code":79,)"));
  EXPECT_THAT(text, HasSubstr(R"("pci":"0000:3b:00.0")"));
  EXPECT_THAT(text, HasSubstr(R"("level":"hardware")"));
}

TEST(EventsDocument, AnEventAtNoGpuOfThisNodeHasNone) {
  Event other = fell_off();
  other.pci = PciAddress{.bus = 0x99};
  EXPECT_THAT(document({other}, followed),
              HasSubstr(R"("gpu":null,"gpu_reason":"not_applicable")"));
}

TEST(EventsQuestion, TakesANumberAndNothingElse) {
  EXPECT_EQ(parse_events_question("").value(), 0U);
  EXPECT_EQ(parse_events_question("after=12").value(), 12U);
  for (const char* wrong :
       {"after", "after=", "after=x", "after=-1", "before=1", "after=1&after=2"}) {
    const auto refused = parse_events_question(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message(), HasSubstr("?after=12"));
  }
}

TEST(EventsView, SaysWhatWhereAndWhatToDoAndTellsTheTerminalNothing) {
  const auto view = view_events(document({fell_off()}, followed), {});
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->any);
  EXPECT_THAT(view->text,
              HasSubstr("2027-01-15T08:00:00.000Z  xid 79  GPU 3 (0000:3b:00.0)  hardware"));
  EXPECT_THAT(view->text, Not(HasSubstr("\x1b")));
}

TEST(EventsView, SilenceOfALogThatIsNotReadIsNotHealth) {
  const auto quiet = view_events(document({}, followed), {});
  ASSERT_TRUE(quiet);
  EXPECT_TRUE(quiet->read);
  EXPECT_THAT(quiet->text, HasSubstr("says nothing about the GPUs"));
  const auto deaf =
      view_events(document({}, {{.name = "/dev/kmsg", .problem = "no permission"}}), {});
  ASSERT_TRUE(deaf);
  EXPECT_FALSE(deaf->read);
  EXPECT_THAT(deaf->text, HasSubstr("/dev/kmsg is not read: no permission"));
  const auto none = view_events(document({}, {}), {});
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->read);
}

TEST(EventSourceFindings, SayWhatIsNotSeen) {
  EXPECT_TRUE(event_source_findings(followed).empty());
  const auto found = event_source_findings(
      {{.name = "/dev/kmsg", .problem = "open /dev/kmsg: no permission", .overwritten = 7}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, "event-source-unread");
  EXPECT_EQ(found[1].rule, "event-source-overrun");
  EXPECT_THAT(found[1].message, HasSubstr("7 records"));
}

}  // namespace
}  // namespace stoker::api
