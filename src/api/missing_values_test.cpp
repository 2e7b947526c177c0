// Contract (docs/specs/api.md): wherever a document has null, "<key>_reason" stands beside it and says
// why; what is there has no reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/document_reader.h"
#include "api/documents.h"
#include "api/service.h"

namespace stoker::api {
namespace {

using device::GpuState;
using store::GpuSnapshot;
using store::Snapshot;

constexpr MonotonicTime now{Seconds(100)};

GpuSnapshot card() {
  GpuSnapshot gpu;
  gpu.info.uuid = "GPU-1";
  gpu.info.migs.push_back({.uuid = "MIG-1"});
  gpu.info.nvlinks.push_back({});
  gpu.processes.push_back({.pid = 4711});  // neither its name nor its memory could be read
  gpu.process_outcome = Reading::of(std::int64_t{1}, now);
  gpu.readings.set(FieldId::power, Reading::of(76.5, now));
  return gpu;
}

Snapshot node(const GpuSnapshot& gpu) {
  Snapshot snapshot;
  snapshot.taken_at = now;
  snapshot.wall = WallTime{Seconds(1'700'000'000)};
  snapshot.hostname = "node1";
  snapshot.source.state = device::SourceState::running;
  snapshot.driver = device::DriverInfo{};  // tells nothing about itself
  snapshot.gpus = {gpu};
  return snapshot;
}

GpuSnapshot marked(GpuState state, Reason why) {
  GpuSnapshot gpu = card();
  gpu.state = state;
  gpu.readings.mark_all(why, now);
  gpu.process_outcome = Reading::none(why, now);
  return gpu;
}

Snapshot without_driver(device::SourceState state) {
  Snapshot snapshot = node(card());
  snapshot.source.state = state;
  snapshot.driver.reset();
  snapshot.gpus.clear();
  return snapshot;
}

// Known by its PCI address alone.
Snapshot never_opened() {
  GpuSnapshot gpu;
  gpu.info.pci = {0, 9, 0, 0};
  gpu.state = GpuState::lost;
  return node(gpu);
}

std::vector<std::pair<const char*, Snapshot>> nodes() {
  return {{"idle", node(card())},
          {"lost", node(marked(GpuState::lost, Reason::lost))},
          {"hung", node(marked(GpuState::hung, Reason::hung))},
          {"refused", node(marked(GpuState::present, Reason::no_permission))},
          {"never opened", never_opened()},
          {"driver missing", without_driver(device::SourceState::driver_missing)},
          {"starting", without_driver(device::SourceState::starting)},
          {"nothing yet", Snapshot{}}};
}

void expect_reasons(const Json& value, const std::string& where) {
  if (value.is_array()) {
    const std::string entries = where + "[]";
    for (const Json& entry : value) expect_reasons(entry, entries);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    const std::string place = fmt::format("{}.{}", where, key);
    EXPECT_EQ(member.is_null(), value.contains(key + "_reason")) << place;
    expect_reasons(member, place);
  }
}

TEST(MissingValues, HaveTheirReasonBesideThemInEveryDocument) {
  for (const auto& [name, snapshot] : nodes()) {
    Service service([&told = snapshot] { return told; }, {.version = "0.1.0"});
    for (const char* path : {"/api/v1/status", "/api/v1/gpus", "/api/v1/fields", "/api/v1/none"}) {
      const auto answer = service.answer({.method = "GET", .path = path});
      expect_reasons(Json::parse(answer.body), std::string(name) + " " + path);
    }
  }
  expect_reasons(Json::parse(fields_document(nullptr)), "fields without an agent");
}

TEST(MissingValues, AGpuThatWasNeverOpenedHasNoIndex) {
  Service service([] { return never_opened(); }, {});
  const auto answer = service.answer({.method = "GET", .path = "/api/v1/gpus"});
  const Json gpu = Json::parse(answer.body)["gpus"][0];
  EXPECT_TRUE(gpu["index"].is_null());
  EXPECT_EQ(gpu["index_reason"], "lost");
  EXPECT_EQ(gpu["pci"], "0000:09:00.0");
  EXPECT_EQ(service.answer({.method = "GET", .path = "/api/v1/gpus/0"}).status, 404);
  EXPECT_EQ(service.answer({.method = "GET", .path = "/api/v1/gpus/0000:09:00.0"}).status, 200);
}

Json status_of(const Snapshot& snapshot, const std::string& profile) {
  Service service([&] { return snapshot; }, {.simulated_profile = profile});
  return Json::parse(service.answer({.method = "GET", .path = "/api/v1/status"}).body);
}

TEST(Simulated, IsWhatTheDriverSaysOfItselfAndNotWhatWasAskedFor) {
  for (const bool really : {false, true}) {
    for (const char* asked : {"", "hgx-h100"}) {
      Snapshot snapshot = node(card());
      snapshot.driver->simulated = really;
      const Json status = status_of(snapshot, asked);
      EXPECT_EQ(status["simulated"], really) << asked;
      EXPECT_EQ(status["simulated_profile"].is_string(), really && *asked != '\0') << asked;
    }
  }
  const Json starting = status_of(without_driver(device::SourceState::starting), "hgx-h100");
  EXPECT_TRUE(starting["simulated"].is_null()) << "no driver has been heard yet";
  EXPECT_EQ(starting["simulated_reason"], "pending");
}

}  // namespace
}  // namespace stoker::api
