// A planned maintenance through the API: who may plan one, what it says, and the file that keeps it.
#include <gmock/gmock.h>

#include "api/maintenance_document.h"
#include "api/service.h"
#include "api/views.h"

namespace stoker::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Maintenance some_maintenance() {
  return {.began = WallTime{Seconds(1'700'000'000)},
          .ends = WallTime{Seconds(1'700'001'800) + Nanoseconds(1)},
          .began_at = MonotonicTime{Nanoseconds(12'345'678'901'234'567)},
          .boot = "boot-1",
          .who = "root",
          .why = "new \"driver\"",
          .waiting = {{"boot-1", "/dev/kmsg", 18'446'744'073'709'551'615U}}};
}

class MaintenanceService : public ::testing::Test {
 protected:
  MaintenanceService()
      : service_([] { return store::Snapshot{}; },
                 {.user_name = [](std::uint32_t id) { return id == 0 ? "root" : "somebody"; },
                  .maintenance = [this] { return now_; },
                  .change_maintenance = [this](const MaintenanceRequest& request)
                      -> Result<std::optional<MaintenanceNow>> {
                    asked_ = request;
                    if (!request.length && !now_) {
                      return fail(ErrorCode::not_found, "no maintenance is planned");
                    }
                    now_.reset();
                    if (request.length) now_ = {some_maintenance(), some_maintenance().ends};
                    return now_;
                  },
                  .hold_back =
                      [](std::vector<Finding>& found) {
                        for (auto& one : found) one.state = FindingState::suspect;
                      }}) {}

  net::Response post(const std::string& body, std::optional<std::uint32_t> user) {
    return service_.answer(
        {.method = "POST", .path = "/api/v1/maintenance", .body = body, .local_user = user});
  }
  std::string get(const std::string& path) {
    return service_.answer({.method = "GET", .path = path}).body;
  }

  std::optional<MaintenanceNow> now_;
  std::optional<MaintenanceRequest> asked_;
  Service service_;
};

TEST_F(MaintenanceService, IsPlannedByWhomTheSocketNamesAndByNobodyElse) {
  const std::string body = R"({"for_seconds":1800,"why":"new driver"})";
  EXPECT_EQ(post(body, std::nullopt).status, 403);
  EXPECT_FALSE(asked_);
  EXPECT_EQ(get("/api/v1/maintenance"),
            R"({"schema":"stoker.dev/v1/maintenance","maintenances":[]})");
  const auto begun = post(body, 0);
  EXPECT_EQ(begun.status, 200) << begun.body;
  EXPECT_EQ(asked_->who, "root");
  EXPECT_EQ(asked_->why, "new driver");
  EXPECT_EQ(asked_->length, Nanoseconds(Seconds(1800)));
  EXPECT_THAT(begun.body, HasSubstr(R"("until":"2023-11-14T22:43:20.000Z","by":"root",)"));
  EXPECT_EQ(get("/api/v1/maintenance"), begun.body);
  EXPECT_EQ(post(R"({"over":true})", 7).status, 200);
  EXPECT_EQ(asked_->who, "somebody");
  EXPECT_EQ(post(R"({"over":true})", 7).status, 404);
}

TEST_F(MaintenanceService, SaysWhatWouldBeRight) {
  for (const auto* wrong :
       {"", "[]", "{}", R"({"for_seconds":0,"why":"x"})", R"({"for_seconds":60})",
        R"({"for_seconds":60,"why":""})", R"({"for_seconds":604801,"why":"x"})",
        R"({"for_seconds":-1,"why":"x"})", R"({"for_seconds":"30m","why":"x"})",
        R"({"over":false})", R"({"over":true,"why":"x"})", R"({"until":"noon"})"}) {
    const auto answer = post(wrong, 0);
    EXPECT_EQ(answer.status, 400) << wrong;
    EXPECT_THAT(answer.body, HasSubstr("right would be")) << wrong;
  }
  EXPECT_FALSE(asked_);
}

TEST_F(MaintenanceService, TheStatusHasItInItsFirstLinesAndItsFindingsAreHeldBack) {
  EXPECT_THAT(get("/api/v1/status"), HasSubstr(R"("maintenance":null)"));
  now_ = {some_maintenance(), some_maintenance().ends};
  const auto status = get("/api/v1/status");
  EXPECT_THAT(status, HasSubstr(R"("state":"suspect")"));
  EXPECT_THAT(status, Not(HasSubstr(R"("state":"firing")")));
  const auto view = view_status(status, R"({"schema":"stoker.dev/v1/gpu","gpus":[]})", {});
  ASSERT_TRUE(view);
  EXPECT_THAT(view->text, HasSubstr("PLANNED   maintenance until 2023-11-14T22:43:20.000Z, by "
                                    "root: new \"driver\"; events that wait for its end: 1\n"));
}

TEST(MaintenanceText, WhyGivesATerminalNoOrders) {
  const auto request =
      parse_maintenance_request(R"({"for_seconds":60,"why":"a\nOK \u001b[31m b"})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->why, "a OK  [31m b");
}

TEST(MaintenanceText, ARequestReadsBackAsItself) {
  const MaintenanceRequest begins{.length = Seconds(90), .who = "", .why = "a \"why\""};
  const auto again = parse_maintenance_request(maintenance_request_body(begins));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->length, begins.length);
  EXPECT_EQ(again->why, begins.why);
  EXPECT_FALSE(parse_maintenance_request(maintenance_request_body({}))->length);
}

TEST(MaintenanceText, TheFileReadsBackToTheNanosecond) {
  const auto again = parse_maintenance_file(maintenance_file(some_maintenance()));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, some_maintenance());
}

TEST(MaintenanceText, AFileThatWasCutOrSaysNonsenseIsNone) {
  const auto whole = maintenance_file(some_maintenance());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_maintenance_file(whole.substr(0, size))) << size;
  }
  auto endless = some_maintenance();
  endless.ends = WallTime{Seconds(1'800'000'000)};
  EXPECT_FALSE(parse_maintenance_file(maintenance_file(endless)));
  auto backwards = some_maintenance();
  backwards.ends = WallTime{Seconds(1)};
  EXPECT_FALSE(parse_maintenance_file(maintenance_file(backwards)));
}

}  // namespace
}  // namespace stoker::api
