#include "incident/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "catalog/field.h"

namespace stoker::incident {
namespace {

// What a vendor or the next shift asks first.
constexpr std::array<FieldId, 10> look_fields = {
    FieldId::temperature,      FieldId::memory_temperature, FieldId::power,
    FieldId::power_limit,      FieldId::sm_clock,           FieldId::memory_clock,
    FieldId::throttle_reasons, FieldId::utilization,        FieldId::memory_used,
    FieldId::performance_state};

const store::GpuSnapshot* gpu_of(const Incident& incident, const store::Snapshot& snapshot) {
  const auto found = std::ranges::find_if(snapshot.gpus, [&](const store::GpuSnapshot& gpu) {
    return (!incident.pci.empty() && gpu.info.pci.sysfs() == incident.pci) ||
           (!gpu.info.uuid.empty() && gpu.info.uuid == incident.entity.id);
  });
  return found == snapshot.gpus.end() ? nullptr : &*found;
}

std::string text_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return fmt::format("{:.1f}", std::get<double>(value));
}

std::string words_of(FieldId id, const Reading& reading) {
  if (reading.ok()) return fmt::format("{}: {}", field(id).key(), text_of(reading.value));
  return fmt::format("{}: none ({})", field(id).key(), to_string(reading.reason));
}

void add_gpu(Look& look, const store::GpuSnapshot& gpu, const Scene& scene) {
  look.lines.push_back(fmt::format("GPU: {}", store::state_of(gpu, scene.snapshot)));
  for (const FieldId id : look_fields) look.lines.push_back(words_of(id, gpu.readings.get(id)));
  if (!gpu.process_outcome.ok()) {
    look.lines.push_back(
        fmt::format("programs: not known ({})", to_string(gpu.process_outcome.reason)));
    return;
  }
  if (gpu.processes.empty()) look.lines.emplace_back("programs: none");
  for (std::size_t n = 0; n < std::min(gpu.processes.size(), LookLimits::programs); ++n) {
    const auto& process = gpu.processes[n];
    const auto owner = scene.node.owners.find(process.pid);
    look.lines.push_back(fmt::format("program: {}, pid {}{}{}",
                                     process.name.empty() ? "?" : process.name, process.pid,
                                     owner == scene.node.owners.end() ? "" : ", of ",
                                     owner == scene.node.owners.end() ? "" : owner->second));
  }
  if (gpu.processes.size() > LookLimits::programs) {
    look.lines.push_back(
        fmt::format("and {} more programs", gpu.processes.size() - LookLimits::programs));
  }
}

// What was said of the same place, or of the node as a whole, since the incident opened.
void add_events(Look& look, const Incident& incident, const Scene& scene) {
  std::size_t more = 0;
  std::size_t said = 0;
  const auto events = scene.events ? scene.events() : std::vector<Event>();
  for (const Event& event : events) {
    if (!event.time || event.time->since_epoch < incident.opened_at.since_epoch) continue;
    if (event.pci && event.pci->sysfs() != incident.pci) continue;
    if (++said > LookLimits::events) {
      ++more;
      continue;
    }
    look.lines.push_back(fmt::format("{}: {}", format_utc(*event.time),
                                     event.text.substr(0, LookLimits::text_bytes)));
  }
  if (said == 0) look.lines.emplace_back("said in between: nothing that is kept");
  if (more > 0) look.lines.push_back(fmt::format("and {} more lines", more));
}

Look at_opening(const Incident& incident, const Scene& scene) {
  Look look{.at = scene.now, .kind = LookKind::opening, .boot = scene.node.boot};
  if (const auto* gpu = gpu_of(incident, scene.snapshot)) {
    add_gpu(look, *gpu, scene);
  } else {
    look.lines.emplace_back("it is about no GPU that is here");
  }
  return look;
}

Look afterwards(const Incident& incident, const Scene& scene, Nanoseconds behind) {
  Look look{.at = scene.now, .kind = LookKind::afterwards, .boot = scene.node.boot};
  const std::string& before = incident.looks.front().boot;
  if (!before.empty() && !scene.node.boot.empty() && before != scene.node.boot) {
    look.made = false;
    look.lines.emplace_back("not made: the node was booted before it was due");
    return look;
  }
  if (behind > LookLimits::latest) {
    look.made = false;
    look.lines.push_back(
        fmt::format("not made: nobody looked for {} after it was due", format_duration(behind)));
    return look;
  }
  look.late = behind > LookLimits::late;
  if (look.late) {
    look.lines.push_back(
        fmt::format("late by {}: the agent was not running", format_duration(behind)));
  }
  if (const auto* gpu = gpu_of(incident, scene.snapshot)) add_gpu(look, *gpu, scene);
  add_events(look, incident, scene);
  return look;
}

}  // namespace

std::optional<Look> due_look(const Incident& incident, const Scene& scene) {
  const auto age = scene.now.since_epoch - incident.opened_at.since_epoch;
  if (incident.looks.empty()) {
    if (is_over(incident) || age > LookLimits::opening) return std::nullopt;
    return at_opening(incident, scene);
  }
  if (incident.looks.size() > 1 || age < second_look_after) return std::nullopt;
  return afterwards(incident, scene, age - second_look_after);
}

}  // namespace stoker::incident
