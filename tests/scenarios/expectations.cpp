#include "expectations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "health/node_status.h"
#include "store/snapshot.h"

namespace stoker::scenario {
namespace {

Entity entity_of(const Place& place, const store::Snapshot& snapshot,
                 const std::vector<device::GpuInfo>& cards) {
  if (place.kind == Place::Kind::node) return {EntityKind::node, snapshot.hostname};
  if (place.kind == Place::Kind::pci) return {EntityKind::port, place.pci->sysfs()};
  const auto& card = cards.at(static_cast<std::size_t>(place.gpu));
  if (place.kind == Place::Kind::gpu) return {EntityKind::gpu, card.uuid};
  if (place.kind == Place::Kind::link) {
    return {EntityKind::nvlink, fmt::format("{}/{}", card.uuid, place.number)};
  }
  return {EntityKind::mig, card.migs.at(static_cast<std::size_t>(place.number)).uuid};
}

// A switch, a card or a port without a GPU has its address as id, whatever kind it is.
bool is_at(const Entity& entity, const std::optional<Entity>& place) {
  if (!place) return true;
  return place->kind == EntityKind::port ? entity.id == place->id : entity == *place;
}

// A program's name with its instance has blanks, and a scenario's words have none.
std::string word_of(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

std::string member(const Incident& one, std::string_view key) {
  if (key == "state") return to_string(one.state);
  if (key == "severity") return to_string(one.severity);
  if (key == "action") return to_string(one.action);
  if (key == "lines") return std::to_string(one.occurrences);
  if (key == "program") return word_of(one.subject);
  if (key == "recurrence") return std::to_string(one.recurrence);
  if (key == "driver_asks") return one.action_of_driver ? "yes" : "no";
  return fmt::format("{}", fmt::join(one.programs, ","));
}

std::string words_of(const Incident& one) {
  return fmt::format("{} {} on {} {}, {}{}, lines {}{}", to_string(one.state), one.cause,
                     one.entity.id, to_string(one.severity), to_string(one.action),
                     one.action_of_driver ? " (driver asks)" : "", one.occurrences,
                     one.subject.empty() ? "" : ", program " + one.subject);
}

std::string incidents_of(const incident::NodeRun& run) {
  std::vector<std::string> all;
  for (const auto& one : run.clerk().book().all()) all.push_back(words_of(one));
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, "; "));
}

std::string findings_of(const incident::NodeRun& run) {
  std::vector<std::string> all;
  for (const auto& one : run.clerk().found()) {
    if (one.state == FindingState::firing) all.push_back(one.rule + " on " + one.entity.id);
  }
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, "; "));
}

std::string where(const std::optional<Entity>& place) {
  return place ? " on " + place->id : std::string();
}

}  // namespace

void Seen::add(const incident::NodeRun& run) {
  for (const auto& one : run.clerk().found()) {
    if (one.state == FindingState::firing) findings_.emplace(one.rule, one.entity);
  }
  for (const auto& one : run.clerk().book().all()) {
    incidents_.insert(one.id);
    causes_.emplace(one.id, one.cause);
  }
}

std::string Seen::finding(const ExpectFinding& expected, const incident::NodeRun& run,
                          const std::vector<device::GpuInfo>& cards) {
  std::optional<Entity> place;
  if (expected.place) place = entity_of(*expected.place, run.snapshot(), cards);
  bool found = false;
  for (const auto& one : run.clerk().found()) {
    if (one.state != FindingState::firing || !is_at(one.entity, place)) continue;
    if (!expected.rule.empty() && one.rule != expected.rule) continue;
    found = true;
    if (!expected.none) expected_findings_.emplace(one.rule, one.entity);
  }
  if (found != expected.none) return {};
  return fmt::format("expected {}finding {}{}; findings: {}", expected.none ? "no " : "",
                     expected.rule, where(place), findings_of(run));
}

std::string Seen::incident(const ExpectIncident& expected, const incident::NodeRun& run,
                           const std::vector<device::GpuInfo>& cards) {
  std::optional<Entity> place;
  if (expected.place) place = entity_of(*expected.place, run.snapshot(), cards);
  const auto program = expected.members.find("program");
  std::optional<Incident> last;
  for (const auto& one : run.clerk().book().all()) {
    if (!expected.cause.empty() && one.cause != expected.cause) continue;
    if (!is_at(one.entity, place) || (expected.none && is_over(one))) continue;
    if (program != expected.members.end() && program->second != word_of(one.subject)) continue;
    last = one;
  }
  std::string wrong;
  if (last && !expected.none) {
    expected_incidents_.insert(last->id);
    for (const auto& [key, value] : expected.members) {
      const auto is = member(*last, key);
      if (is != value) wrong += fmt::format(" {} is {} and not {};", key, is, value);
    }
  }
  if (last.has_value() != expected.none && wrong.empty()) return {};
  return fmt::format("expected {}incident {}{};{} incidents: {}", expected.none ? "no " : "",
                     expected.cause, where(place), wrong, incidents_of(run));
}

std::string Seen::compare(const Act& act, const incident::NodeRun& run,
                          const std::vector<device::GpuInfo>& cards) {
  if (const auto* one = std::get_if<ExpectFinding>(&act)) return finding(*one, run, cards);
  if (const auto* one = std::get_if<ExpectIncident>(&act)) return incident(*one, run, cards);
  if (const auto* one = std::get_if<ExpectCount>(&act)) {
    const auto all = run.clerk().book().all();
    const auto open = all.size() - static_cast<std::size_t>(std::ranges::count_if(all, is_over));
    if (open == one->incidents) return {};
    return fmt::format("expected {} incidents that are not over; incidents: {}", one->incidents,
                       incidents_of(run));
  }
  if (const auto* one = std::get_if<ExpectVerdict>(&act)) {
    const auto judged = health::judge(run.snapshot(), run.clerk().found());
    if (to_string(judged.verdict) == one->word) return {};
    return fmt::format("expected verdict {}; it is {}: {}", one->word, to_string(judged.verdict),
                       judged.reason);
  }
  return {};
}

std::vector<std::string> Seen::unexpected(const std::set<std::string>& also) const {
  std::vector<std::string> said;
  for (const auto& [rule, entity] : findings_) {
    if (expected_findings_.contains({rule, entity}) || also.contains(rule)) continue;
    said.push_back(fmt::format("finding {} on {} came, and no line expects it", rule, entity.id));
  }
  for (const auto id : incidents_) {
    if (expected_incidents_.contains(id)) continue;
    std::vector<std::string> causes;
    for (const auto& [of, cause] : causes_) {
      if (of == id) causes.push_back(cause);
    }
    if (std::ranges::any_of(causes, [&](const auto& cause) { return also.contains(cause); }))
      continue;
    said.push_back(
        fmt::format("incident {} came, and no line expects it", fmt::join(causes, ", then ")));
  }
  return said;
}

}  // namespace stoker::scenario
