#include "api/explanation_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "catalog/explain.h"
#include "catalog/xid.h"
#include "health/checks.h"
#include "incident/account.h"
#include "model/entity.h"
#include "model/render.h"

namespace stoker::api {
namespace {

using incident::Account;
using incident::AccountLine;
using incident::Part;

std::string why_cause(const Incident& incident, const Account& account) {
  std::size_t of_it = 0;
  std::size_t after = 0;
  std::size_t earlier = 0;
  for (const AccountLine& line : account.lines) {
    of_it += line.part == Part::cause ? 1 : 0;
    after += line.part == Part::follows ? 1 : 0;
    earlier += line.part == Part::earlier ? 1 : 0;
  }
  std::string why = fmt::format("{} of the lines below {} {}", of_it, of_it == 1 ? "says" : "say",
                                incident.cause);
  if (of_it == 0) why = fmt::format("What checks read says {}", incident.cause);
  if (after > 0) why += fmt::format("; follow from it, no trouble of their own: {}", after);
  if (earlier > 0) {
    why +=
        fmt::format("; {} were heard under a cause that stands lower, which it took over", earlier);
  }
  if (incident.evidence_left_out > 0) {
    why += fmt::format("; {} more were counted and not kept", incident.evidence_left_out);
  }
  return why;
}

std::string why_action(const Incident& incident, const Account& account) {
  if (incident.action_of_driver) {
    return "The driver itself asks for it: that stands above every table";
  }
  const Xid* xid = account.xids.empty() ? nullptr : find_xid(account.xids.front());
  if (xid != nullptr && xid->action == incident.action && !xid->immediate.empty()) {
    return fmt::format("NVIDIA gives {} for Xid {}", xid->immediate, xid->number);
  }
  for (const Finding& finding : incident.findings) {
    if (finding.action != incident.action) continue;
    return fmt::format("The check {} asks for it", finding.rule);
  }
  return fmt::format("It is what the source below gives for {}", incident.cause);
}

std::vector<std::string> next_steps(const Incident& incident, const Account& account) {
  std::vector<std::string> next;
  if (const Xid* xid = account.xids.empty() ? nullptr : find_xid(account.xids.front())) {
    for (const auto note : xid_notes(xid->number)) next.emplace_back(note);
    if (!xid->then.empty()) {
      next.push_back(fmt::format("NVIDIA, if it comes again: {}", xid_bucket_words(xid->then)));
    }
  }
  const auto checks = health::built_in_checks();
  for (const Finding& finding : incident.findings) {
    if (std::ranges::find(checks, finding.rule, &health::Check::id) == checks.end()) continue;
    next.push_back(
        fmt::format("stoker explain check {}: what was compared with what", finding.rule));
  }
  if (incident.recurrence > 0) {
    next.push_back(fmt::format("It is the {}. of its kind on this card: stoker incidents --all",
                               incident.recurrence + 1));
  }
  using enum Action;
  if (incident.action == contact_vendor || incident.action == replace ||
      incident.action == field_diag) {
    next.push_back(fmt::format("stoker incident {} --bundle FILE.tar.zst: what the vendor asks for",
                               incident.id));
  }
  if (!incident.pci.empty()) {
    next.push_back(
        fmt::format("stoker history temperature --gpu {}: the hours before", incident.pci));
  }
  return next;
}

void write_lines(JsonWriter& json, const Account& account) {
  json.key("lines").begin_array();
  for (const AccountLine& line : account.lines) {
    json.begin_object().member("time", format_utc(line.at));
    json.member("part", to_string(line.part)).member_or_null("who", line.who);
    json.member("text", line.text).member_or_null("why", line.why).end_object();
  }
  json.end_array();
}

void write_catalogue(JsonWriter& json, const Account& account,
                     const std::optional<DriverVersion>& driver) {
  json.key("catalogue").begin_array();
  for (const auto number : account.xids) write_xid(json, number, driver);
  for (const auto number : account.sxids) write_sxid(json, number);
  json.end_array();
}

void write_sources(JsonWriter& json, const Incident& incident, const Account& account) {
  std::vector<std::string> sources;
  const auto add = [&sources](std::string_view source) {
    if (source.empty() || std::ranges::find(sources, source) != sources.end()) return;
    sources.emplace_back(source);
  };
  add(incident.source);
  for (const auto number : account.xids) add(xid_source(number));
  for (const Finding& finding : incident.findings) add(finding.source);
  json.key("sources").begin_array();
  for (const auto& source : sources) json.value(source);
  json.end_array();
}

}  // namespace

std::string explanation_document(const Incident& incident,
                                 const std::optional<DriverVersion>& driver) {
  const Account account = incident::account_of(incident, driver);
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/incident-explanation");
  json.key("explanations").begin_array().begin_object();
  json.member("id", incident.id).member("state", to_string(incident.state));
  json.member("about", incident.about).member("entity", entity_word(incident.entity));
  json.member("opened_at", format_utc(incident.opened_at));
  json.member("message", incident.message).member("cause", incident.cause);
  json.member_or_null("title", account.cause.title);
  json.member("why_this_cause", why_cause(incident, account));
  json.member_or_null("explanation", incident.explanation);
  json.member("action", to_string(incident.action));
  json.member("action_of_driver", incident.action_of_driver);
  json.member("why_this_action", why_action(incident, account));
  json.member_or_null("fix", incident.fix);
  write_sources(json, incident, account);
  write_lines(json, account);
  json.key("findings").begin_array();
  for (const Finding& finding : incident.findings) write_finding(json, finding);
  json.end_array();
  write_catalogue(json, account, driver);
  json.key("next").begin_array();
  for (const auto& step : next_steps(incident, account)) json.value(step);
  json.end_array().end_object().end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
