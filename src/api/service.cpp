#include "api/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "api/documents.h"
#include "api/events_document.h"
#include "api/expect_document.h"
#include "api/explanation_document.h"
#include "api/gpu_name.h"
#include "api/history_document.h"
#include "api/incident_request.h"
#include "api/incidents_document.h"
#include "api/maintenance_document.h"
#include "api/topology_document.h"
#include "base/closest.h"
#include "base/text.h"
#include "health/gpu_view.h"
#include "health/node_status.h"

namespace stoker::api {
namespace {

using net::Request;
using net::Response;
using store::GpuSnapshot;
using store::Snapshot;

constexpr const char* json_type = "application/json";
constexpr std::string_view gpus_below = "/api/v1/gpus/";
constexpr std::string_view history_page = "/api/v1/history";
constexpr std::string_view events_page = "/api/v1/events";
constexpr std::string_view incidents_page = "/api/v1/incidents";
constexpr std::string_view incident_events_page = "/api/v1/incidents/events";

constexpr std::string_view maintenance_page = "/api/v1/maintenance";

constexpr std::string_view explanation_below = "/explanation";

struct Page {
  std::string_view path;
  std::string_view help;
};
constexpr std::array<Page, 18> pages = {{
    {"/metrics", "for Prometheus; the same series as dcgm-exporter, and stoker_*"},
    {"/healthz", "200 while this process serves"},
    {"/health", "the same, by dcgm-exporter's name"},
    {"/readyz", "200 while at least one GPU is being read"},
    {"/api/v1/status", "is anything wrong, and why"},
    {"/api/v1/gpus", "every GPU with all its readings"},
    {"/api/v1/gpus/{index|uuid|pci}", "one GPU"},
    {"/api/v1/expect", "what this node should have, against what is there"},
    {"/api/v1/topology", "how GPUs and NICs are connected"},
    {history_page, "a field's last hour or day: ?field=power, &gpu=3, &since=6h, &step=minute"},
    {events_page, "what the kernel and the driver said of late: ?after=N for what came since"},
    {incidents_page, "what is wrong, one a cause: ?state=open,acknowledged for those alone"},
    {"/api/v1/incidents/{id}", "one of them, with its evidence"},
    {"/api/v1/incidents/{id}/explanation", "why it is what it is, and what to look at next"},
    {incident_events_page, "each change of one as it happens (server-sent events)"},
    {"/api/v1/fields", "what is read, and what reading it costs here"},
    {maintenance_page, "the planned maintenance that holds findings back now, if there is one"},
    {"/", "this page"},
}};

bool is_api(std::string_view path) { return path == "/api" || path.starts_with("/api/"); }

Response problem(const Request& request, int status, ErrorCode code, const std::string& message) {
  if (!is_api(request.path)) return {.status = status, .body = message + "\n"};
  return {.status = status,
          .content_type = json_type,
          .body = error_document(to_string(code), message)};
}

Response json(std::string document) {
  return {.content_type = json_type, .body = std::move(document)};
}

Response not_found(const Request& request) {
  std::vector<std::string> known;
  known.reserve(pages.size());
  for (const Page& page : pages) known.emplace_back(page.path);
  const auto hint = did_you_mean(request.path, known);
  return problem(request, 404, ErrorCode::not_found,
                 fmt::format("there is no page {}; {}", request.path,
                             hint.empty() ? "/ lists those that there are" : hint));
}

Response one_gpu(const Request& request, const Snapshot& snapshot) {
  const std::string_view id = std::string_view(request.path).substr(gpus_below.size());
  std::vector<const GpuSnapshot*> found;
  for (const auto& gpu : snapshot.gpus) {
    if (is_named(gpu.info, id)) found.push_back(&gpu);
  }
  if (found.empty()) {
    return problem(
        request, 404, ErrorCode::not_found,
        fmt::format("there is no GPU \"{}\" here: name one of {} by index, UUID or PCI address", id,
                    snapshot.gpus.size()));
  }
  return json(gpus_document(snapshot, found));
}

Response all_gpus(const Snapshot& snapshot) {
  std::vector<const GpuSnapshot*> every;
  every.reserve(snapshot.gpus.size());
  for (const auto& gpu : snapshot.gpus) every.push_back(&gpu);
  return json(gpus_document(snapshot, every));
}

Response ready(const Snapshot& snapshot, const std::vector<Finding>& findings) {
  const bool running = snapshot.source.state == device::SourceState::running;
  if (running && std::ranges::any_of(snapshot.gpus, health::answers)) return {.body = "ok\n"};
  if (!running) {
    return {.status = 503,
            .body = fmt::format("{}: {}\n", device::to_string(snapshot.source.state),
                                snapshot.source.detail)};
  }
  const auto judged = health::judge(snapshot, findings);
  return {.status = 503,
          .body = fmt::format("{}: {}\n", health::to_string(judged.verdict), judged.reason)};
}

Finding dropped_finding(const std::vector<exporting::DroppedFamily>& dropped, std::size_t most) {
  Finding finding;
  finding.rule = "series-dropped";
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, "/metrics"};
  finding.message = fmt::format("/metrics leaves {} {} out, to stay below {} series",
                                dropped.size(), dropped.size() == 1 ? "family" : "families", most);
  finding.cause = "There are more series than metrics.max_series allows";
  finding.action = Action::fix_config;
  finding.fix = "List fewer fields in the counter file, or raise metrics.max_series";
  finding.source = "docs/specs/metrics.md";
  for (const auto& family : dropped) {
    finding.evidence.push_back(fmt::format("{}: {} series", family.name, family.series));
  }
  return finding;
}

Finding unsaved_finding(const Error& problem) {
  Finding finding;
  finding.rule = "history-not-saved";
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, "history"};
  finding.message = "The history is not kept on disk; a restart loses what came since";
  finding.cause = "The data folder does not take it";
  finding.action = Action::fix_config;
  finding.fix = "See the evidence; where the folder was removed, restart the agent";
  finding.source = "docs/specs/api.md";
  finding.evidence.push_back(problem.describe());
  return finding;
}

Response index_page(const std::string& version) {
  std::string body = fmt::format("stoker {}\n\n", version);
  for (const Page& page : pages) body += fmt::format("{:<32} {}\n", page.path, page.help);
  return {.body = std::move(body)};
}

}  // namespace

Service::Service(Snapshots snapshots, ServiceOptions options, const Clock& clock)
    : snapshots_(std::move(snapshots)),
      checked_(std::move(options.checked)),
      history_(options.history),
      events_(options.events),
      incidents_(std::move(options.incidents)),
      change_incident_(std::move(options.change_incident)),
      incident_feed_(options.incident_feed),
      user_name_(std::move(options.user_name)),
      incident_problems_(std::move(options.incident_problems)),
      replay_(std::move(options.replay)),
      maintenance_(std::move(options.maintenance)),
      change_maintenance_(std::move(options.change_maintenance)),
      hold_back_(std::move(options.hold_back)),
      version_(options.version),
      clock_(clock) {
  render_.series = std::move(options.series);
  expected_ = std::move(options.expected);
  render_.version = std::move(options.version);
  render_.revision = std::move(options.revision);
}

void Service::set_series(exporting::SeriesOptions series) {
  const MutexLock lock(mutex_);
  render_.series = std::move(series);
}

void Service::set_counters(std::shared_ptr<const exporting::CounterList> counters,
                           std::vector<Finding> findings) {
  const MutexLock lock(mutex_);
  render_.counters = std::move(counters);
  counter_findings_ = std::move(findings);
  take_dropped(dropped_);
}

void Service::set_history_problem(const std::optional<Error>& problem) {
  const MutexLock lock(mutex_);
  history_finding_.reset();
  if (problem) history_finding_ = unsaved_finding(*problem);
  take_dropped(dropped_);
}

void Service::set_previous_boot(PreviousBoot boot) {
  const MutexLock lock(mutex_);
  previous_boot_ = std::move(boot);
}

std::optional<PreviousBoot> Service::previous_boot() {
  const MutexLock lock(mutex_);
  return previous_boot_;
}

void Service::set_event_sources(const std::vector<EventSource>& sources) {
  const MutexLock lock(mutex_);
  source_findings_ = event_source_findings(sources);
  take_dropped(dropped_);
}

std::vector<Finding> Service::own_findings() {
  auto found = incident_problems_ ? incident_problems_() : std::vector<Finding>();
  const MutexLock lock(mutex_);
  found.insert(found.end(), render_.own_findings.begin(), render_.own_findings.end());
  return found;
}

void Service::take_dropped(const std::vector<exporting::DroppedFamily>& dropped) {
  dropped_ = dropped;
  render_.own_findings = counter_findings_;
  if (history_finding_) render_.own_findings.push_back(*history_finding_);
  render_.own_findings.insert(render_.own_findings.end(), source_findings_.begin(),
                              source_findings_.end());
  if (!dropped_.empty()) {
    render_.own_findings.push_back(dropped_finding(dropped_, render_.series.max_series));
  }
}

void Service::set_expected(health::Expected expected) {
  const MutexLock lock(mutex_);
  expected_ = std::move(expected);
}

health::Expected Service::expected() {
  const MutexLock lock(mutex_);
  return expected_;
}

std::vector<Finding> Service::findings(const Snapshot& snapshot) {
  auto found =
      health::evaluate(snapshot, expected(), checked_ ? checked_() : std::vector<Finding>());
  if (hold_back_) hold_back_(found);
  return found;
}

Response Service::metrics(const Request& request) {
  const auto started = clock_.monotonic();
  const Snapshot snapshot = snapshots_();
  const auto format = exporting::choose_format(request.accept);
  const auto found = findings(snapshot);
  const MutexLock lock(mutex_);
  auto rendered = exporting::render(snapshot, found, render_, format);
  Response response{.content_type = std::string(exporting::content_type(format)),
                    .body = std::move(rendered.text)};
  if (!rendered.dropped.empty() || !dropped_.empty()) take_dropped(rendered.dropped);
  ++render_.scrapes.scrapes;
  render_.scrapes.render_seconds +=
      static_cast<double>((clock_.monotonic() - started).count()) / 1e9;
  return response;
}

Response Service::history(const Request& request) {
  if (history_ == nullptr) {
    return problem(request, 404, ErrorCode::not_found, "no history is kept here");
  }
  const auto question = parse_history_question(request.query, *history_);
  if (!question) {
    return problem(request, 400, question.error().code(), question.error().message());
  }
  auto document = history_document(snapshots_(), *history_, *question);
  if (!document) {
    return problem(request, 404, document.error().code(), document.error().message());
  }
  return json(std::move(*document));
}

Response Service::events(const Request& request) {
  if (events_ == nullptr) {
    return problem(request, 404, ErrorCode::not_found, "no events are kept here");
  }
  const auto after = parse_events_question(request.query);
  if (!after) return problem(request, 400, after.error().code(), after.error().message());
  return json(
      events_document(events_->kept(*after), events_->sources(), snapshots_(), previous_boot()));
}

Response Service::incidents(const Request& request) {
  if (!incidents_) {
    return problem(request, 404, ErrorCode::not_found, "no incidents are kept here");
  }
  const auto states = parse_incidents_question(request.query);
  if (!states) return problem(request, 400, states.error().code(), states.error().message());
  if (request.path == incidents_page) {
    return json(incidents_document(incidents_(std::nullopt), *states));
  }
  auto word = std::string_view(request.path).substr(incidents_page.size() + 1);
  const bool explain = word.ends_with(explanation_below);
  if (explain) word.remove_suffix(explanation_below.size());
  const auto id = whole_number<std::uint64_t>(word);
  const auto one = id ? incidents_(id) : std::vector<Incident>();
  if (!one.empty() && explain) {
    const auto driver = snapshots_().driver;
    return json(explanation_document(
        one.front(), driver ? DriverVersion::parse(driver->driver_version) : std::nullopt));
  }
  if (!one.empty()) return json(incident_document(one.front()));
  return problem(request, 404, ErrorCode::not_found,
                 fmt::format("there is no incident \"{}\": {} lists those that are kept", word,
                             incidents_page));
}

Response Service::incident_events(const Request& request) {
  if (incident_feed_ == nullptr) {
    return problem(request, 404, ErrorCode::not_found, "no incidents are kept here");
  }
  if (!request.query.empty()) {
    return problem(request, 400, ErrorCode::invalid_input,
                   fmt::format("{} takes no parameters", incident_events_page));
  }
  auto stream = incident_feed_->listen(request.last_event_id);
  if (!stream) return problem(request, 503, stream.error().code(), stream.error().message());
  return {.content_type = "text/event-stream", .stream = std::move(*stream)};
}

Response Service::change_incident(const Request& request) {
  if (!request.local_user) {
    return problem(request, 403, ErrorCode::no_permission,
                   "incidents are changed through the agent's own socket alone, where it is known "
                   "who asks: `stoker incident ID --acknowledge` on this machine");
  }
  auto asked = parse_incident_request(request.body);
  if (!asked) return problem(request, 400, asked.error().code(), asked.error().message());
  asked->who = user_name_(*request.local_user);
  const auto id = whole_number<std::uint64_t>(request.path.substr(incidents_page.size() + 1));
  const auto changed = id ? change_incident_(*id, *asked)
                          : Result<Incident>(fail(ErrorCode::not_found, "that is no incident"));
  if (changed) return json(incident_document(*changed));
  return problem(request, changed.error().code() == ErrorCode::not_found ? 404 : 409,
                 changed.error().code(), changed.error().message());
}

std::optional<MaintenanceNow> Service::maintenance() const {
  return maintenance_ ? maintenance_() : std::nullopt;
}

Response Service::change_maintenance(const Request& request) {
  if (!request.local_user) {
    return problem(request, 403, ErrorCode::no_permission,
                   "a maintenance is planned through the agent's own socket alone, where it is "
                   "known who asks: `stoker maintenance begin` on this machine");
  }
  auto asked = parse_maintenance_request(request.body);
  if (!asked) return problem(request, 400, asked.error().code(), asked.error().message());
  asked->who = user_name_(*request.local_user);
  const auto now = change_maintenance_(*asked);
  if (now) return json(maintenance_document(*now));
  return problem(request, now.error().code() == ErrorCode::not_found ? 404 : 500,
                 now.error().code(), now.error().describe());
}

std::optional<history::HistoryFacts> Service::history_facts() const {
  if (history_ == nullptr) return std::nullopt;
  return history_->facts();
}

Response Service::answer(const Request& request) {
  const std::string_view path = request.path;
  const bool one = path.starts_with(gpus_below) && path.size() > gpus_below.size();
  const bool incident = path.starts_with(incidents_page) &&
                        (path == incidents_page || path[incidents_page.size()] == '/');
  const bool known = one || incident || std::ranges::find(pages, path, &Page::path) != pages.end();
  if (!known) return not_found(request);
  if (request.method == "POST" && incident && path != incidents_page && change_incident_) {
    return change_incident(request);
  }
  if (request.method == "POST" && path == maintenance_page && change_maintenance_) {
    return change_maintenance(request);
  }
  if (request.method != "GET") {
    auto response = problem(request, 405, ErrorCode::invalid_input,
                            fmt::format("{} can only be read (GET, HEAD)", path));
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  // Scrapers add parameters to /metrics; a question to the API that we don't understand would get the
  // wrong answer.
  if (path == history_page) return history(request);
  if (path == events_page) return events(request);
  if (path == incident_events_page) return incident_events(request);
  if (incident) return incidents(request);
  if (is_api(path) && !request.query.empty()) {
    return problem(
        request, 400, ErrorCode::invalid_input,
        fmt::format("{} takes no parameters, and \"{}\" was given", path, request.query));
  }
  if (path == "/") return index_page(version_);
  if (path == maintenance_page) return json(maintenance_document(maintenance()));
  if (path == "/healthz" || path == "/health") return {.body = "ok\n"};
  if (path == "/metrics") return metrics(request);
  const Snapshot snapshot = snapshots_();
  if (path == "/readyz") return ready(snapshot, findings(snapshot));
  if (path == "/api/v1/status")
    return json(status_document(
        snapshot, {version_, findings(snapshot), own_findings(), replay_ ? replay_() : std::nullopt,
                   maintenance(), previous_boot()}));
  if (path == "/api/v1/fields") return json(fields_document(&snapshot, history_facts()));
  if (path == "/api/v1/expect") return json(expect_document(health::compare(snapshot, expected())));
  if (path == "/api/v1/topology") return json(topology_document(topology::build(snapshot)));
  return one ? one_gpu(request, snapshot) : all_gpus(snapshot);
}

}  // namespace stoker::api
