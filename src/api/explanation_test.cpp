// Why an incident is what it is, for people and as data.
#include <gmock/gmock.h>

#include "api/explanation_document.h"
#include "api/explanation_view.h"
#include "model/incident_test_support.h"

namespace stoker::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Incident off_bus() {
  Incident one = off_bus_incident(7);
  one.source = "https://example.org/catalogue";
  one.fix = "reboot the node";
  one.recurrence = 1;
  const auto later = [&](int seconds) {
    return WallTime{one.opened_at.since_epoch + Seconds(seconds)};
  };
  one.evidence = {
      {one.opened_at, "NVRM: Xid (PCI:0000:9a:00): 79, GPU has fallen off the bus."},
      {later(1), "NVRM: Xid (PCI:0000:9a:00): 45, pid=20, name=x\x1b[31m, Ch 00000008"}};
  one.timeline = {{one.opened_at, "stoker", "opened"}, {later(60), "alice", "acknowledged"}};
  return one;
}

std::string shown(const Incident& incident) {
  const auto view = view_explanation(explanation_document(incident, std::nullopt), {});
  return view ? *view : view.error().describe();
}

TEST(Explanation, TellsWhyInOrderAndOnWhoseWord) {
  const auto text = shown(off_bus());
  EXPECT_THAT(text, HasSubstr("Incident 7, open since 2023-11-14 22:13:20\n"
                              "    GPU 3 (0000:9a:00.0): Xid 79, GPU has fallen off the bus\n"));
  EXPECT_THAT(text, HasSubstr("why gpu-off-bus\n    GPU 3 (0000:9a:00.0) fell off the bus\n"
                              "    1 of the lines below says gpu-off-bus; follow from it"));
  EXPECT_THAT(text, HasSubstr("NVIDIA gives RESTART_BM for Xid 79"));
  EXPECT_THAT(text, HasSubstr("2023-11-14 22:13:21  follows NVRM: Xid"));
  EXPECT_THAT(text, HasSubstr("2023-11-14 22:14:20  alice:  acknowledged"));
  EXPECT_THAT(text, HasSubstr("what other tools make of it\n    Xid 79: DCGM"));
  EXPECT_THAT(text, HasSubstr("It is the 2. of its kind on this card"));
  EXPECT_THAT(text, HasSubstr("on whose word\n    https://example.org/catalogue\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Explanation, OfTheDriversOwnWordSaysThatItStandsAboveTables) {
  Incident one = off_bus();
  one.action_of_driver = true;
  EXPECT_THAT(shown(one), HasSubstr("The driver itself asks for it: that stands above every"));
}

TEST(Explanation, OfAFindingNamesItsCheck) {
  Incident one = off_bus();
  one.evidence = {{one.opened_at, "GPU 3 is lost"}};
  Finding finding;
  finding.rule = "gpu-lost";
  finding.entity = one.entity;
  finding.action = Action::reboot;
  finding.message = "GPU 3 is lost";
  finding.source = "docs/specs/probe.md";
  one.findings = {finding};
  const auto text = shown(one);
  EXPECT_THAT(text, HasSubstr("What checks read says gpu-off-bus"));
  EXPECT_THAT(text, HasSubstr("why reboot\n    The check gpu-lost asks for it"));
  EXPECT_THAT(text, HasSubstr("gpu-lost: GPU 3 is lost (docs/specs/probe.md)"));
  EXPECT_THAT(text, Not(HasSubstr("stoker explain check"))) << "it is a rule of the node, no check";
  EXPECT_THAT(text, Not(HasSubstr("what other tools make of it")));
  one.findings[0].rule = "pcie-replays";
  EXPECT_THAT(shown(one), HasSubstr("stoker explain check pcie-replays"));
}

TEST(Explanation, OfADocumentWithoutOneIsAnError) {
  EXPECT_FALSE(view_explanation(R"({"schema":"stoker.dev/v1/incident","incidents":[]})", {}));
}

}  // namespace
}  // namespace stoker::api
