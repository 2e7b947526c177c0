#include "api/events_document.h"

#include <fmt/format.h>

#include "api/documents.h"
#include "base/text.h"
#include "catalog/driver_version.h"
#include "event/event_report.h"
#include "event/judgement.h"

namespace stoker::api {
namespace {

using store::Snapshot;

void write_gpu(JsonWriter& json, const Event& event, const Snapshot& snapshot) {
  if (!event.pci) return void(json.inapplicable("gpu"));
  const auto* gpu = store::gpu_at(snapshot, *event.pci);
  // One that could never be opened has no index.
  if (gpu == nullptr || gpu->info.uuid.empty()) return void(json.inapplicable("gpu"));
  json.member("gpu", gpu->info.index);
}

void write_source(JsonWriter& json, const EventSource& source) {
  json.begin_object().member("name", source.name).member("followed", source.followed);
  json.member_or_null("problem", source.problem).member("records", source.records);
  json.member("overwritten", source.overwritten).member("malformed", source.malformed).end_object();
}

Finding about(const EventSource& source, std::string rule, std::string message) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, source.name};
  finding.message = std::move(message);
  finding.source = "docs/specs/events.md";
  return finding;
}

}  // namespace

Result<std::uint64_t> parse_events_question(std::string_view query) {
  if (query.empty()) return 0;
  constexpr std::string_view name = "after=";
  const auto number = query.starts_with(name)
                          ? whole_number<std::uint64_t>(query.substr(name.size()))
                          : std::nullopt;
  if (number) return *number;
  return fail(ErrorCode::invalid_input,
              fmt::format("\"{}\": after=NUMBER is what can be asked, e.g. ?after=12", query));
}

std::string events_document(const store::EventsKept& kept, const std::vector<EventSource>& sources,
                            const Snapshot& snapshot, const std::optional<PreviousBoot>& previous) {
  const auto driver = store::driver_version(snapshot);
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/event").member("told", kept.told);
  json.key("sources").begin_array();
  for (const auto& source : sources) write_source(json, source);
  json.end_array();
  write_previous_boot(json, previous);
  json.key("events").begin_array();
  for (const auto& [number, event] : kept.events) {
    json.begin_object()
        .member("number", number)
        .member("file", event.origin.source)
        .inapplicable("line");
    write_time(json, "time", event.time);
    write_gpu(json, event, snapshot);
    event::write_event_members(json, event, event::judge(event, driver));
    json.end_object();
  }
  json.end_array().end_object();
  return json.text();
}

void write_previous_boot(JsonWriter& json, const std::optional<PreviousBoot>& previous) {
  if (!previous) return void(json.inapplicable("previous_boot"));
  json.key("previous_boot").begin_object().member("known", previous->known);
  json.member_or_null("boot", previous->boot);
  write_time(json, "ended_at", previous->ended);
  json.member("end", to_string(previous->end)).member_or_null("why", previous->why);
  json.member_or_null("source", previous->source).member("records", previous->records);
  json.key("notes").begin_array();
  for (const auto& note : previous->notes) json.value(note);
  json.end_array().end_object();
}

std::vector<Finding> event_source_findings(const std::vector<EventSource>& sources) {
  std::vector<Finding> findings;
  for (const auto& source : sources) {
    if (!source.problem.empty()) {
      auto& finding = findings.emplace_back(
          about(source, "event-source-unread",
                fmt::format("{} is not read, so Xids and other events are not seen", source.name)));
      finding.cause = "The agent may not read it, or it is not there";
      finding.action = Action::fix_config;
      finding.fix =
          "Give the agent CAP_SYSLOG and /dev/kmsg, or the journal in /var/log/journal to read; or "
          "set "
          "events.kernel_log to false, to be told no events";
      finding.evidence.push_back(source.problem);
    }
    if (source.overwritten > 0) {
      auto& finding = findings.emplace_back(
          about(source, "event-source-overrun",
                fmt::format("{} records of {} were overwritten before they were read",
                            source.overwritten, source.name)));
      finding.cause = "The kernel printed more than its buffer holds, faster than it was read";
      finding.action = Action::observe;
      finding.fix = "Boot with a larger log_buf_len where this comes again";
    }
  }
  return findings;
}

}  // namespace stoker::api
