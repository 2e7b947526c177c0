#include <gtest/gtest.h>

#include <set>

#include "api/document_reader.h"
#include "api/documents.h"
#include "api/service.h"
#include "api/views.h"

namespace stoker::api {
namespace {

using device::GpuState;
using store::GpuSnapshot;
using store::Snapshot;

constexpr MonotonicTime now{Seconds(100)};

GpuSnapshot card(std::uint32_t index) {
  GpuSnapshot gpu;
  gpu.info.index = index;
  gpu.info.pci = {0, static_cast<std::uint8_t>(0x10 + index), 0, 0};
  gpu.info.uuid = "GPU-" + std::to_string(index);
  gpu.info.name = "NVIDIA H100 80GB HBM3";
  gpu.info.compute_capability = 90;
  gpu.info.slowdown_celsius = 89;
  gpu.state_since = MonotonicTime{Seconds(90)};
  gpu.last_answer = MonotonicTime{Seconds(99)};
  gpu.readings.set(FieldId::power, Reading::of(76.5, now));
  gpu.readings.set(FieldId::power_limit, Reading::of(700.0, now));
  gpu.readings.set(FieldId::temperature, Reading::of(std::int64_t{34}, now));
  gpu.readings.set(FieldId::utilization, Reading::of(std::int64_t{0}, now));
  gpu.readings.set(FieldId::memory_used, Reading::of(std::int64_t{1} << 29, now));
  gpu.readings.set(FieldId::memory_total, Reading::of(std::int64_t{80} << 30, now));
  gpu.readings.set(FieldId::fan_speed, Reading::none(Reason::not_supported, now));
  gpu.process_outcome = Reading::of(std::int64_t{1}, now);
  gpu.processes.push_back(
      {.pid = 4711, .memory_known = true, .memory_bytes = 1024, .name = "python"});
  gpu.costs.push_back({.getter = Getter::power_usage,
                       .calls = 4,
                       .total = Nanoseconds(20'000),
                       .longest = Nanoseconds(9'000)});
  return gpu;
}

// Two cards, of which the second is hung.
Snapshot node() {
  Snapshot snapshot;
  snapshot.taken_at = now;
  snapshot.wall = WallTime{Seconds(1'700'000'000)};
  snapshot.hostname = "node1";
  snapshot.simulated_profile = "hgx-h100";
  snapshot.source.state = device::SourceState::running;
  snapshot.source.probe_pid = 99;
  snapshot.driver =
      device::DriverInfo{.driver_version = "580.159.04", .cuda_version = 13000, .simulated = true};
  snapshot.gpus = {card(0), card(1)};
  auto& hung = snapshot.gpus[1];
  hung.state = GpuState::hung;
  hung.state_detail = "nvmlDeviceGetPowerUsage has not returned for 12 s";
  hung.readings.mark_all(Reason::hung, now);
  hung.process_outcome = Reading::none(Reason::hung, now);
  hung.processes.clear();
  return snapshot;
}

net::Response ask(const std::string& path, const std::string& query = "",
                  const std::string& method = "GET") {
  Service service([] { return node(); }, {.version = "0.1.0"});
  return service.answer({.method = method, .path = path, .query = query});
}

Json body(const net::Response& response) { return Json::parse(response.body); }

TEST(Gpus, KeysCarryUnitsAndMissingValuesTellTheirReason) {
  const auto gpus = body(ask("/api/v1/gpus"));
  EXPECT_EQ(gpus["schema"], "stoker.dev/v1/gpu");
  EXPECT_EQ(gpus["simulated"], true);
  const auto& first = gpus["gpus"][0];
  EXPECT_EQ(first["pci"], "0000:10:00.0");
  EXPECT_EQ(first["power_watts"], 76.5);
  EXPECT_EQ(first["memory_used_bytes"], 1 << 29);
  EXPECT_EQ(first["compute_capability"], "9.0");
  EXPECT_TRUE(first["fan_speed_percent"].is_null());
  EXPECT_EQ(first["fan_speed_percent_reason"], "not_supported");
  EXPECT_EQ(first["sm_clock_mhz_reason"], "pending");
  EXPECT_EQ(first["limits"]["slowdown_celsius"], 89);
  EXPECT_TRUE(first["limits"]["shutdown_celsius"].is_null());
  EXPECT_EQ(first["processes"][0]["pid"], 4711);
  EXPECT_EQ(first["last_answer_age_seconds"], 1.0);
}

TEST(Gpus, AHungGpuHasNoValuesButItsIdentity) {
  const auto second = body(ask("/api/v1/gpus"))["gpus"][1];
  EXPECT_EQ(second["uuid"], "GPU-1");
  EXPECT_EQ(second["state"], "hung");
  EXPECT_TRUE(second["power_watts"].is_null());
  EXPECT_EQ(second["power_watts_reason"], "hung");
  EXPECT_TRUE(second["processes"].is_null());
  EXPECT_EQ(second["processes_reason"], "hung");
}

TEST(Gpus, NoKeyStandsTwice) {
  const auto text = ask("/api/v1/gpus").body;
  std::vector<std::set<std::string>> open;
  bool twice = false;
  const auto check = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key) {
      if (!open.back().insert(parsed.get<std::string>()).second) {
        twice = true;
        ADD_FAILURE() << parsed;
      }
    }
    return true;
  };
  EXPECT_TRUE(Json::parse(text, check).is_object());
  EXPECT_FALSE(twice);
}

TEST(Gpus, OneIsFoundByIndexUuidAndAnySpellingOfItsAddress) {
  for (const char* id : {"1", "GPU-1", "0000:11:00.0", "00000000:11:00.0", "PCI:0000:11:00"}) {
    const auto response = ask(std::string("/api/v1/gpus/") + id);
    ASSERT_EQ(response.status, 200) << id;
    EXPECT_EQ(body(response)["gpus"].size(), 1U);
    EXPECT_EQ(body(response)["gpus"][0]["uuid"], "GPU-1") << id;
  }
  EXPECT_EQ(ask("/api/v1/gpus/01").status, 404);
  const auto none = ask("/api/v1/gpus/7");
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(body(none)["error"]["message"],
            "there is no GPU \"7\" here: name one of 2 by index, UUID or PCI address");
}

TEST(Status, SaysTheVerdictFirstAndThatCardsAreSimulated) {
  const auto response = ask("/api/v1/status");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(
      response.body.rfind(R"({"schema":"stoker.dev/v1/status","verdict":"critical","reason":")", 0),
      0U)
      << response.body;
  const auto status = body(response);
  EXPECT_EQ(status["simulated"], true);
  EXPECT_EQ(status["simulated_profile"], "hgx-h100");
  EXPECT_EQ(status["driver"]["cuda_version"], "13.0");
  EXPECT_EQ(status["gpu_counts"]["hung"], 1);
  EXPECT_EQ(status["findings"][0]["rule"], "gpu-hung");
  EXPECT_EQ(status["findings"][0]["entity"], "gpu:GPU-1");
}

TEST(Fields, TellWhatTheirCallsCost) {
  const auto fields = body(ask("/api/v1/fields"));
  for (const auto& field : fields["fields"]) {
    if (field["name"] != "power") continue;
    EXPECT_EQ(field["calls"], 8);  // four on each card
    EXPECT_EQ(field["call_mean_microseconds"], 5.0);
    EXPECT_EQ(field["call_longest_microseconds"], 9.0);
    EXPECT_EQ(field["dcgm_name"], "DCGM_FI_DEV_POWER_USAGE");
  }
  EXPECT_EQ(fields["history_reason"], "no_source") << "this service was given none";
  const auto unmeasured = Json::parse(fields_document(nullptr));
  EXPECT_EQ(unmeasured["measured"], false);
  EXPECT_EQ(unmeasured["fields"].size(), field_count);
  EXPECT_TRUE(unmeasured["fields"][0]["call_mean_microseconds"].is_null());
}

TEST(Service, AnswersHealthAndReadiness) {
  EXPECT_EQ(ask("/healthz").body, "ok\n");
  EXPECT_EQ(ask("/health").body, "ok\n");
  EXPECT_EQ(ask("/readyz").status, 200);
  Service starting([] { return Snapshot{}; }, {});
  EXPECT_EQ(starting.answer({.method = "GET", .path = "/readyz"}).status, 503);
  EXPECT_EQ(starting.answer({.method = "GET", .path = "/healthz"}).status, 200);
}

TEST(Service, IsNotReadyWhileNoGpuAnswersAndSaysWhy) {
  Service one([] { return node(); }, {});
  EXPECT_EQ(one.answer({.method = "GET", .path = "/readyz"}).status, 200);
  Service none(
      [] {
        Snapshot snapshot = node();
        for (GpuSnapshot& gpu : snapshot.gpus) {
          gpu.state = GpuState::hung;
          gpu.readings.mark_all(Reason::hung, now);
        }
        return snapshot;
      },
      {});
  const auto response = none.answer({.method = "GET", .path = "/readyz"});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body,
            "critical: GPU 0 (0000:10:00.0) hangs and 1 more critical; 0 of 2 GPUs answer\n");
}

TEST(Service, SaysWhileTheHistoryIsNotSavedAndDoesNotJudgeTheNodeByIt) {
  Service service([] { return node(); }, {});
  const auto status = [&] {
    return service.answer({.method = "GET", .path = "/api/v1/status"}).body;
  };
  const std::string before = status();
  service.set_history_problem(Error(ErrorCode::unavailable, "the data folder was removed"));
  EXPECT_NE(status().find("history-not-saved"), std::string::npos);
  EXPECT_NE(status().find("the data folder was removed"), std::string::npos);
  EXPECT_EQ(Json::parse(status())["verdict"], Json::parse(before)["verdict"]);
  service.set_history_problem(std::nullopt);
  EXPECT_EQ(status(), before);
}

TEST(Service, ServesMetricsWhateverTheParameters) {
  const auto metrics = ask("/metrics", "x=1");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body.find("DCGM_FI_DEV_POWER_USAGE{"), std::string::npos);
  EXPECT_NE(metrics.body.find("stoker_simulated 1"), std::string::npos);
}

TEST(Service, SaysWhatIsWrongWithARequest) {
  const auto missing = ask("/api/v1/gpu");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body,
            R"({"schema":"stoker.dev/v1/error","error":{"code":"not_found",)"
            R"("message":"there is no page /api/v1/gpu; did you mean '/api/v1/gpus'?"}})");
  EXPECT_EQ(ask("/nothing").body, "there is no page /nothing; / lists those that there are\n");
  const auto query = ask("/api/v1/gpus", "gpu=0");
  EXPECT_EQ(query.status, 400);
  EXPECT_EQ(body(query)["error"]["code"], "invalid_input");
  const auto method = ask("/api/v1/gpus", "", "DELETE");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at(0), (std::pair<std::string, std::string>("Allow", "GET, HEAD")));
}

TEST(Views, StatusFitsATerminalAndSaysWhatIsSo) {
  const auto view = view_status(ask("/api/v1/status").body, ask("/api/v1/gpus").body, {});
  ASSERT_TRUE(view) << view.error().describe();
  EXPECT_FALSE(view->healthy);
  EXPECT_EQ(view->text, R"(CRITICAL  GPU 1 (0000:11:00.0) hangs; 1 of 2 GPUs answers
SIMULATED no real cards: these exist only in files (profile hgx-h100)
node      node1, driver 580.159.04, CUDA 13.0
reading   running
host      CPU ... %, memory .../... GiB free, /dev/shm .../... GiB used

GPU  NAME            STATE    UTIL%      MEM GiB  TEMP°C   POWER W
  0  H100 80GB HBM3  present      0     0.5/80.0      34    76/700
  1  H100 80GB HBM3  hung      hung         hung    hung      hung

critical  gpu-hung  gpu GPU-1
  what    GPU 1 (0000:11:00.0) hangs
  why     A driver call about this GPU has not returned: its firmware does not
          answer, or the driver waits for it
  do      reset_gpu: Take the work off it, then reset the GPU; reboot the node
          if the reset hangs too
  seen    nvmlDeviceGetPowerUsage has not returned for 12 s
  seen    last answer 1 s ago
  source  docs/specs/probe.md
)");
}

TEST(Views, GpusAreATableAndLines) {
  const auto gpus = ask("/api/v1/gpus").body;
  EXPECT_EQ(*view_gpus(gpus),
            "GPU  PCI           NAME            STATE    UTIL%      MEM GiB  TEMP°C   POWER W\n"
            "  0  0000:10:00.0  H100 80GB HBM3  present      0     0.5/80.0      34    76/700\n"
            "  1  0000:11:00.0  H100 80GB HBM3  hung      hung         hung    hung      hung\n");
  EXPECT_EQ(*view_gpus_now(gpus, false),
            "22:13:20    0  H100 80GB HBM3  present      0     0.5/80.0      34    76/700\n"
            "22:13:20    1  H100 80GB HBM3  hung      hung         hung    hung      hung\n");
}

TEST(Views, DocumentsReadTheSameAsYamlAndAsLines) {
  const std::string document =
      R"({"schema":"stoker.dev/v1/thing","time":"t","ok":true,"text":"a: b","word":"abc","no":"no",)"
      R"("number":"12","none":null,"empty":[],"map":{"a":1,"b":{"c":[1,2]}},"things":[{"x":1,"y":[{"z":2}]},{"x":2}]})";
  EXPECT_EQ(
      *format_document(document, DataFormat::yaml),
      "schema: stoker.dev/v1/thing\ntime: t\nok: true\ntext: \"a: b\"\nword: abc\nno: \"no\"\n"
      "number: \"12\"\nnone: null\nempty: []\nmap:\n  a: 1\n  b:\n    c:\n      - 1\n      - 2\n"
      "things:\n  - x: 1\n    y:\n      - z: 2\n  - x: 2\n");
  EXPECT_EQ(*format_document(document, DataFormat::jsonl),
            "{\"time\":\"t\",\"x\":1,\"y\":[{\"z\":2}]}\n{\"time\":\"t\",\"x\":2}\n");
  EXPECT_EQ(format_document("<html>", DataFormat::json).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(format_document("[1]", DataFormat::json).error().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace stoker::api
