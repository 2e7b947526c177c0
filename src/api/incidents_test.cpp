// Incidents as the API tells and changes them.
#include <gmock/gmock.h>

#include "api/incident_request.h"
#include "api/incidents_document.h"
#include "api/incidents_view.h"
#include "api/service.h"
#include "model/incident_test_support.h"

namespace stoker::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Incident make(std::uint64_t id, IncidentState state) {
  Incident one = off_bus_incident(id, state);
  one.occurrences = 3;
  one.evidence = {{one.opened_at, "NVRM: Xid (PCI:0000:9a:00): 79\x1b[31m"}};
  one.timeline = {{one.opened_at, "stoker", "opened"}};
  return one;
}

class IncidentsService : public ::testing::Test {
 protected:
  IncidentsService()
      : service_([] { return store::Snapshot{}; },
                 {.incidents =
                      [](std::optional<std::uint64_t> id) {
                        std::vector all = {make(1, IncidentState::resolved),
                                           make(2, IncidentState::open)};
                        std::erase_if(all,
                                      [id](const Incident& one) { return id && one.id != *id; });
                        return all;
                      },
                  .change_incident = [this](std::uint64_t id,
                                            const incident::Request& request) -> Result<Incident> {
                    if (id != 2) return fail(ErrorCode::not_found, "there is no incident 7");
                    asked_ = request;
                    return make(2, request.to);
                  },
                  .user_name = [](std::uint32_t id) { return id == 0 ? "root" : "somebody"; }}) {}

  net::Response get(const std::string& path, const std::string& query = "") {
    return service_.answer({.method = "GET", .path = path, .query = query});
  }
  net::Response post(const std::string& path, const std::string& body,
                     std::optional<std::uint32_t> user) {
    return service_.answer({.method = "POST", .path = path, .body = body, .local_user = user});
  }

  std::optional<incident::Request> asked_;
  Service service_;
};

TEST_F(IncidentsService, TellsThemNewestFirstOrThoseOfSomeStates) {
  const auto all = get("/api/v1/incidents");
  EXPECT_EQ(all.status, 200);
  EXPECT_LT(all.body.find(R"("id":2,)"), all.body.find(R"("id":1,)"));
  const auto open = get("/api/v1/incidents", "state=open,proving");
  EXPECT_THAT(open.body, HasSubstr(R"("id":2,)"));
  EXPECT_THAT(open.body, Not(HasSubstr(R"("id":1,)")));
  EXPECT_EQ(get("/api/v1/incidents", "state=broken").status, 400);
  EXPECT_EQ(get("/api/v1/incidents", "state=").status, 400);
  EXPECT_EQ(get("/api/v1/incidents", "since=1").status, 400);
}

TEST_F(IncidentsService, TellsOneOrThatThereIsNone) {
  EXPECT_THAT(get("/api/v1/incidents/1").body, HasSubstr(R"("incidents":[{"id":1,)"));
  EXPECT_EQ(get("/api/v1/incidents/3").status, 404);
  EXPECT_EQ(get("/api/v1/incidents/").status, 404);
  EXPECT_EQ(get("/api/v1/incidents/1x").status, 404);
  EXPECT_EQ(get("/api/v1/incidentsx").status, 404);
}

TEST_F(IncidentsService, IsChangedByWhomTheSocketNamesAndByNobodyElse) {
  const auto refused = post("/api/v1/incidents/2", R"({"to":"acknowledged"})", std::nullopt);
  EXPECT_EQ(refused.status, 403);
  EXPECT_FALSE(asked_);
  const auto done =
      post("/api/v1/incidents/2", R"({"to":"suppressed","note":"planned","for_seconds":60})", 0);
  EXPECT_EQ(done.status, 200) << done.body;
  ASSERT_TRUE(asked_);
  EXPECT_EQ(asked_->to, IncidentState::suppressed);
  EXPECT_EQ(asked_->note, "planned");
  EXPECT_EQ(asked_->for_how_long, Nanoseconds(Seconds(60)));
  EXPECT_EQ(asked_->who, "root");
  EXPECT_THAT(done.body, HasSubstr(R"("state":"suppressed")"));
  EXPECT_EQ(post("/api/v1/incidents/7", R"({"to":"open"})", 0).status, 404);
  EXPECT_EQ(post("/api/v1/incidents", R"({"to":"open"})", 0).status, 405);
}

TEST(IncidentRequest, RefusesWhatItDoesNotUnderstandAndSaysWhatWouldBeRight) {
  for (const char* body :
       {"", "[]", "{", R"({"to":"proving"})", R"({"to":1})", R"({})", R"({"to":"open","x":1})",
        R"({"to":"open","for_seconds":1})", R"({"to":"suppressed","for_seconds":0})",
        R"({"to":"suppressed","for_seconds":-1})", R"({"to":"suppressed","for_seconds":1e30})",
        R"({"to":"open","note":1})"}) {
    const auto request = parse_incident_request(body);
    ASSERT_FALSE(request) << body;
    EXPECT_THAT(request.error().message(), HasSubstr("right would be {")) << body;
  }
}

TEST(IncidentsDocument, ShowsSomeLinesOfEachInAListAndAllOfOne) {
  auto one = make(2, IncidentState::open);
  one.evidence.clear();
  for (int n = 0; n < 20; ++n) one.evidence.push_back({one.opened_at, std::to_string(n)});
  one.evidence_left_out = 100;
  const auto list = incidents_document({one}, {});
  EXPECT_THAT(list, HasSubstr(R"("text":"3"},{)"));
  EXPECT_THAT(list, HasSubstr(R"("text":"16"},{)"));
  EXPECT_THAT(list, Not(HasSubstr(R"("text":"4"})")));
  EXPECT_THAT(list, HasSubstr(R"("evidence_left_out":112,)"));
  EXPECT_THAT(incident_document(one), HasSubstr(R"("text":"10"},{)"));
  EXPECT_THAT(incident_document(one), HasSubstr(R"("evidence_left_out":100,)"));
}

TEST(IncidentsView, ShowsEverythingAndNothingOfATerminalsLanguage) {
  const auto document = incidents_document({make(2, IncidentState::open)}, {});
  const auto list = view_incidents(document, {});
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->any);
  EXPECT_EQ(list->text,
            "2  2023-11-14 22:13:20  critical  gpu-off-bus  open\n"
            "    GPU 3 (0000:9a:00.0): Xid 79, GPU has fallen off the bus\n"
            "    what to do: reboot; 3 signs of it\n");
  const auto one = view_incident(document, {});
  ASSERT_TRUE(one);
  EXPECT_THAT(one->text, HasSubstr("NVRM: Xid (PCI:0000:9a:00): 79 [31m"));
  EXPECT_THAT(one->text, HasSubstr("stoker: opened"));
  EXPECT_THAT(one->text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace stoker::api
