#include "health/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "health/gpu_view.h"

namespace stoker::health {
namespace {

using store::GpuSnapshot;

// A number that a card says of itself; 0: it does not.
Reading told(double number, const GpuSnapshot& gpu) {
  const MonotonicTime at = gpu.state_since;
  return number > 0 ? Reading::of(number, at) : Reading::none(Reason::not_supported, at);
}

Reading processes_of(const Subject& of) {
  const Reading& outcome = of.gpu->process_outcome;
  if (!outcome.ok()) return outcome;
  return Reading::of(static_cast<std::int64_t>(of.gpu->processes.size()), outcome.taken_at,
                     outcome.took);
}

// 1 on the card that speaks for its job, where the job is in this state; not known where that can't be told.
template <Progress state>
Reading is_job(const Subject& of) {
  const CardWork& work = *of.work;
  const MonotonicTime at = work.activity.at;
  const bool known = state == Progress::unclear || work.progress != Progress::unclear;
  if (!known || work.activity.what == Activity::unknown)
    return Reading::none(Reason::no_source, at);
  return Reading::of(std::int64_t{work.speaks && work.progress == state ? 1 : 0}, at);
}

Reading host_cpu_of(const Subject& of) {
  if (!of.work->host_cpu_percent) return Reading::none(Reason::no_source, of.work->activity.at);
  return Reading::of(*of.work->host_cpu_percent, of.work->activity.at);
}

struct CardWord {
  std::string_view name;
  Unit unit;
  Reading (*of)(const Subject& subject);
  bool of_job = false;
};

constexpr auto card_words = std::to_array<CardWord>({
    {"slowdown_celsius", Unit::celsius,
     [](const Subject& of) { return told(of.gpu->info.slowdown_celsius, *of.gpu); }},
    {"shutdown_celsius", Unit::celsius,
     [](const Subject& of) { return told(of.gpu->info.shutdown_celsius, *of.gpu); }},
    {"max_memory_celsius", Unit::celsius,
     [](const Subject& of) { return told(of.gpu->info.max_memory_celsius, *of.gpu); }},
    {"max_operating_celsius", Unit::celsius,
     [](const Subject& of) { return told(of.gpu->info.max_operating_celsius, *of.gpu); }},
    {"power_limit_default_watts", Unit::watts,
     [](const Subject& of) { return told(of.gpu->info.power_limit_default_watts, *of.gpu); }},
    {"power_limit_max_watts", Unit::watts,
     [](const Subject& of) { return told(of.gpu->info.power_limit_max_watts, *of.gpu); }},
    {"max_sm_clock_mhz", Unit::megahertz,
     [](const Subject& of) { return told(of.gpu->info.max_sm_clock_mhz, *of.gpu); }},
    {"max_memory_clock_mhz", Unit::megahertz,
     [](const Subject& of) { return told(of.gpu->info.max_memory_clock_mhz, *of.gpu); }},
    {"max_pcie_generation", Unit::none,
     [](const Subject& of) { return told(of.gpu->info.max_pcie_generation, *of.gpu); }},
    {"max_pcie_width", Unit::none,
     [](const Subject& of) { return told(of.gpu->info.max_pcie_width, *of.gpu); }},
    {"processes", Unit::count, processes_of},
    {"job_hangs", Unit::none, is_job<Progress::hangs>, true},
    {"job_waits_on_host", Unit::none, is_job<Progress::waits_on_host>, true},
    {"job_unclear", Unit::none, is_job<Progress::unclear>, true},
    {"host_cpu_percent", Unit::percent, host_cpu_of, true},
});

Subject subject_of(const GpuSnapshot& gpu) {
  return {.entity = entity_of(gpu), .name = name_of(gpu), .gpu = &gpu, .own = nullptr};
}

Subject mig_of(const GpuSnapshot& gpu, std::uint32_t index, const store::ReadingSet& readings) {
  const bool known = index < gpu.info.migs.size() && !gpu.info.migs[index].uuid.empty();
  const std::string id =
      known ? gpu.info.migs[index].uuid : fmt::format("{}/mig{}", entity_of(gpu).id, index);
  return {.entity = {EntityKind::mig, id},
          .name = fmt::format("MIG instance {} of {}", index, name_of(gpu)),
          .gpu = &gpu,
          .own = &readings};
}

Subject link_of(const GpuSnapshot& gpu, std::uint32_t link, const store::ReadingSet& readings) {
  return {.entity = {EntityKind::nvlink, fmt::format("{}/{}", entity_of(gpu).id, link)},
          .name = fmt::format("NVLink {} of {}", link, name_of(gpu)),
          .gpu = &gpu,
          .own = &readings};
}

}  // namespace

std::vector<Subject> subjects_of(const store::Snapshot& snapshot, const std::vector<CardWork>& work,
                                 Links links) {
  std::vector<Subject> subjects;
  subjects.push_back({.entity = {EntityKind::node, snapshot.hostname},
                      .name = snapshot.hostname,
                      .gpu = nullptr,
                      .own = &snapshot.node});
  for (std::size_t place = 0; place < snapshot.gpus.size(); ++place) {
    const GpuSnapshot& gpu = snapshot.gpus[place];
    const std::size_t first = subjects.size();
    subjects.push_back(subject_of(gpu));
    for (const auto& [index, readings] : gpu.migs) {
      subjects.push_back(mig_of(gpu, index, readings));
    }
    for (const auto& [link, readings] : gpu.nvlinks) {
      if (links == Links::left_out) break;
      subjects.push_back(link_of(gpu, link, readings));
    }
    for (std::size_t n = first; n < subjects.size(); ++n) subjects[n].work = &work.at(place);
  }
  return subjects;
}

bool Operand::is_counter() const {
  return field && stoker::field(*field).kind == FieldKind::counter;
}

bool Operand::is_of_job() const {
  const auto* word = std::ranges::find(card_words, name, &CardWord::name);
  return word != card_words.end() && word->of_job;
}

Reading Operand::of(const Subject& subject) const {
  if (!field) {
    return subject.gpu == nullptr ? Reading::none(Reason::not_supported, {}) : card(subject);
  }
  if (subject.entity.kind == EntityKind::mig || entity != EntityKind::gpu) {
    return subject.own->get(*field);
  }
  return subject.gpu->readings.get(*field);
}

std::optional<Operand> find_operand(std::string_view name) {
  const auto* word = std::ranges::find(card_words, name, &CardWord::name);
  if (word != card_words.end()) {
    return Operand{.name = word->name,
                   .unit = word->unit,
                   .entity = EntityKind::gpu,
                   .field = std::nullopt,
                   .card = word->of};
  }
  for (const Field& row : all_fields()) {
    if (row.name != name) continue;
    return Operand{
        .name = row.name, .unit = row.unit, .entity = row.entity, .field = row.id, .card = nullptr};
  }
  return std::nullopt;
}

std::vector<std::string> operand_names() {
  std::vector<std::string> names;
  names.reserve(field_count + card_words.size());
  for (const Field& row : all_fields()) names.emplace_back(row.name);
  for (const CardWord& row : card_words) names.emplace_back(row.name);
  return names;
}

bool may_ask(EntityKind scope, const Operand& operand) {
  switch (scope) {
    case EntityKind::nvlink:
      return operand.entity == EntityKind::nvlink || operand.entity == EntityKind::gpu;
    case EntityKind::node:
      return operand.entity == EntityKind::node || operand.entity == EntityKind::gpu;
    default: return operand.entity == EntityKind::gpu;
  }
}

}  // namespace stoker::health
