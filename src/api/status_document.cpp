// Edge: /api/v1/status: the verdict first, then why, then what it rests on.
#include <fmt/format.h>

#include <algorithm>

#include "api/documents.h"
#include "api/events_document.h"
#include "api/maintenance_document.h"
#include "api/owner_members.h"
#include "api/test_schedule_document.h"
#include "health/node_status.h"
#include "model/render.h"

namespace stoker::api {
namespace {

using store::Snapshot;

void write_source(JsonWriter& json, const Snapshot& snapshot) {
  const auto& source = snapshot.source;
  json.key("source").begin_object();
  json.member("state", device::to_string(source.state)).member_or_null("detail", source.detail);
  json.member("state_age_seconds",
              static_cast<double>((snapshot.taken_at - source.since).count()) / 1e9);
  if (source.probe_pid > 0) {
    json.member("probe_pid", source.probe_pid);
  } else {
    json.inapplicable("probe_pid");
  }
  json.member("stuck_probes", source.stuck_probes).member("restarts", source.restarts);
  json.end_object();
}

void write_replay(JsonWriter& json, const std::optional<ReplayState>& replay) {
  if (!replay) {
    json.inapplicable("replay");
    return;
  }
  const auto seconds = [](Nanoseconds time) { return static_cast<double>(time.count()) / 1e9; };
  json.key("replay").begin_object().member("file", replay->file);
  json.member("recorded_at", format_utc(replay->recorded_at));
  json.member("length_seconds", seconds(replay->length));
  json.member("position_seconds", seconds(replay->position)).member("speed", replay->speed);
  json.member("lost_bytes", replay->lost_bytes).member("ended", replay->ended);
  json.member_or_null("problem", replay->problem).end_object();
}

Reason why_no_driver(const Snapshot& snapshot) {
  const Reason why = store::reason_of(snapshot.source.state);
  return why == Reason::ok ? Reason::pending : why;
}

void write_driver(JsonWriter& json, const Snapshot& snapshot) {
  if (!snapshot.driver) return write_missing(json, "driver", why_no_driver(snapshot));
  const auto& driver = *snapshot.driver;
  json.key("driver").begin_object();
  member_or_missing(json, "driver_version", driver.driver_version, Reason::not_supported);
  member_or_missing(json, "nvml_version", driver.nvml_version, Reason::not_supported);
  if (driver.cuda_version > 0) {
    json.member("cuda_version",
                fmt::format("{}.{}", driver.cuda_version / 1000, driver.cuda_version % 1000 / 10));
  } else {
    write_missing(json, "cuda_version", Reason::not_supported);
  }
  json.key("abi_notes").begin_array();
  for (const auto& note : driver.abi_notes) json.value(note);
  json.end_array().end_object();
}

void write_gpu_counts(JsonWriter& json, const Snapshot& snapshot) {
  const auto count = [&snapshot](std::string_view state) {
    return std::ranges::count_if(snapshot.gpus, [&](const store::GpuSnapshot& gpu) {
      return store::state_of(gpu, snapshot) == state;
    });
  };
  json.key("gpu_counts").begin_object().member("total", snapshot.gpus.size());
  for (const auto state : store::gpu_states) json.member(state, count(state));
  json.end_object();
}

void write_node(JsonWriter& json, const Snapshot& snapshot) {
  json.key("node").begin_object().member("hostname", snapshot.hostname);
  for (const Field& field : all_fields()) {
    if (field.entity == EntityKind::node) {
      write_reading(json, field.key(), snapshot.node.get(field.id));
    }
  }
  json.end_object();
}

}  // namespace

void write_simulated(JsonWriter& json, const Snapshot& snapshot) {
  const auto simulated = store::is_simulated(snapshot);
  if (!simulated) return write_missing(json, "simulated", why_no_driver(snapshot));
  json.member("simulated", *simulated);
}

std::string status_document(const Snapshot& snapshot, const StatusFacts& facts) {
  const auto judged = health::judge(snapshot, facts.findings);
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/status");
  json.member("verdict", health::to_string(judged.verdict)).member("reason", judged.reason);
  write_simulated(json, snapshot);
  const bool simulated = store::is_simulated(snapshot).value_or(false);
  json.member_or_null("simulated_profile", simulated ? snapshot.simulated_profile : "");
  json.member("time", format_utc(snapshot.wall)).member("stoker_version", facts.version);
  write_replay(json, facts.replay);
  if (facts.maintenance) {
    json.key("maintenance");
    write_maintenance(json, *facts.maintenance);
  } else {
    json.inapplicable("maintenance");
  }
  write_previous_boot(json, facts.previous_boot);
  write_source(json, snapshot);
  write_driver(json, snapshot);
  write_gpu_counts(json, snapshot);
  write_attribution(json, snapshot);
  write_test_schedule(json, snapshot);
  write_node(json, snapshot);
  json.key("findings").begin_array();
  for (const auto* all : {&facts.findings, &facts.own_findings}) {
    for (const Finding& finding : *all) write_finding(json, finding);
  }
  json.end_array().end_object();
  return json.text();
}

std::string error_document(std::string_view code, std::string_view message) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/error").key("error").begin_object();
  json.member("code", code).member("message", message).end_object().end_object();
  return json.text();
}

}  // namespace stoker::api
