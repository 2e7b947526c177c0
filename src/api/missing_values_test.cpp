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

constexpr MonotonicTime read_at{Seconds(100)};

GpuSnapshot card() {
  GpuSnapshot gpu;
  gpu.info.uuid = "GPU-1";
  gpu.info.migs.push_back({.uuid = "MIG-1"});
  gpu.info.nvlinks.push_back({});
  gpu.processes.push_back({.pid = 4711});  // neither its name nor its memory could be read
  gpu.process_outcome = Reading::of(std::int64_t{1}, read_at);
  gpu.readings.set(FieldId::power, Reading::of(76.5, read_at));
  return gpu;
}

Snapshot node(const GpuSnapshot& gpu) {
  Snapshot snapshot;
  snapshot.taken_at = read_at;
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
  gpu.readings.mark_all(why, read_at);
  gpu.process_outcome = Reading::none(why, read_at);
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

// Everything about owners is asked for, and `told` has what is known.
Snapshot owned(const Attribution& told) {
  Snapshot snapshot = node(card());
  snapshot.attribution = std::make_shared<const Attribution>(told);
  return snapshot;
}

// Whoever has the card and its MIG device: a claim of nothing but a name, and a share.
Attribution half_known() {
  Attribution told;
  told.processes.reason = Reason::ok;
  told.pods = {.reason = Reason::ok, .at = read_at};
  told.owners[4711] = {.container_id = "0123", .pod = PodContainer{}, .job = SlurmJob{}};
  told.holds["GPU-1"] = {{.claim = "claim"}, {}};
  told.holds["MIG-1"] = {{.holder = {.pod = "p", .pod_namespace = "n", .container = "c"},
                          .resource = "nvidia.com/gpu",
                          .replica = "1"}};
  told.unmapped = {{.resource = "nvidia.com/gpu"}};
  return told;
}

Attribution refused() {
  Attribution told;
  told.processes = {.reason = Reason::no_permission, .detail = "hostPID is not set"};
  told.pods = {.reason = Reason::failed, .detail = "the kubelet does not answer"};
  return told;
}

Attribution host_process() {
  Attribution told = half_known();
  told.owners[4711] = {};
  return told;
}

std::vector<std::pair<const char*, Snapshot>> nodes() {
  return {{"idle", node(card())},
          {"lost", node(marked(GpuState::lost, Reason::lost))},
          {"hung", node(marked(GpuState::hung, Reason::hung))},
          {"refused", node(marked(GpuState::present, Reason::no_permission))},
          {"never opened", never_opened()},
          {"driver missing", without_driver(device::SourceState::driver_missing)},
          {"starting", without_driver(device::SourceState::starting)},
          {"owners half known", owned(half_known())},
          {"a process of the host", owned(host_process())},
          {"owners refused", owned(refused())},
          {"owners not looked for yet", owned({})},
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

Json gpu_of(const Snapshot& snapshot) {
  Service service([&] { return snapshot; }, {});
  return Json::parse(service.answer({.method = "GET", .path = "/api/v1/gpus"}).body)["gpus"][0];
}

TEST(MissingValues, OfOwnersAreUnknownWhereNobodyLookedAndNoneWhereThereIsNone) {
  const Json hidden = gpu_of(owned(refused()));
  EXPECT_EQ(hidden["holders_reason"], "failed");
  EXPECT_EQ(hidden["mig_devices"][0]["holders_reason"], "failed");
  for (const char* key : {"uid", "user", "container_id", "runtime", "pod", "job"}) {
    EXPECT_EQ(hidden["processes"][0][std::string(key) + "_reason"], "no_permission") << key;
  }
  const Json host = gpu_of(owned(host_process()));
  for (const char* key : {"container_id", "runtime", "pod", "job"}) {
    EXPECT_EQ(host["processes"][0][std::string(key) + "_reason"], "not_applicable") << key;
  }
  EXPECT_EQ(gpu_of(node(card()))["holders_reason"], "no_source");
  Attribution free = half_known();
  free.holds.clear();
  EXPECT_EQ(gpu_of(owned(free))["holders"], Json::array());
}

Json status_of(Snapshot snapshot, const std::string& profile) {
  snapshot.simulated_profile = profile;
  Service service([&] { return snapshot; }, {});
  return Json::parse(service.answer({.method = "GET", .path = "/api/v1/status"}).body);
}

TEST(Simulated, IsWhatTheDriverSaysOfItselfAndBeforeThatWhatWasAskedFor) {
  for (const bool really : {false, true}) {
    for (const char* asked : {"", "hgx-h100"}) {
      Snapshot snapshot = node(card());
      snapshot.driver->simulated = really;
      const Json status = status_of(snapshot, asked);
      EXPECT_EQ(status["simulated"], really) << asked;
      EXPECT_EQ(status["simulated_profile"].is_string(), really && *asked != '\0') << asked;
    }
  }
  const Json asked = status_of(without_driver(device::SourceState::starting), "hgx-h100");
  EXPECT_EQ(asked["simulated"], true);
  EXPECT_EQ(asked["simulated_profile"], "hgx-h100");
  const Json starting = status_of(without_driver(device::SourceState::starting), "");
  EXPECT_TRUE(starting["simulated"].is_null()) << "no driver has been heard yet";
  EXPECT_EQ(starting["simulated_reason"], "pending");
}

}  // namespace
}  // namespace stoker::api
