#include "diag_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "catalog/driver_version.h"
#include "event/judgement.h"

namespace stoker::app {
namespace {

std::string name_of(const Event& event) {
  if (event.kind == EventKind::xid && event.code) return fmt::format("Xid {}", *event.code);
  return to_string(event.kind);
}

// Single PCIe errors that the hardware corrected are usual; what only says something about another event is told.
diag::LoadEvent event_of(const Event& event, std::uint32_t gpu,
                         const std::optional<DriverVersion>& driver) {
  const auto judged = event::judge(event, driver);
  return {.gpu = gpu,
          .text = fmt::format("{}: {}", name_of(event), judged.meaning),
          .details = {event.text},
          .is_fault = judged.level != FaultLevel::info && event.sign != "aer_corrected",
          .of_program = judged.level == FaultLevel::application};
}

// What NVML told of a card since `before`, and the kernel's log did not.
void add_nvml_xids(const store::GpuSnapshot& before, const store::Snapshot& during,
                   const std::set<std::uint32_t>& told, std::vector<diag::LoadEvent>& out) {
  const auto* now = store::gpu_at(during, before.info.pci);
  if (now == nullptr) return;
  for (const auto& [number, tally] : now->xids) {
    const auto was = before.xids.find(number);
    if (told.contains(number) || (was != before.xids.end() && was->second.count >= tally.count))
      continue;
    auto one = event_of({.kind = EventKind::xid, .code = number}, before.info.index,
                        store::driver_version(during));
    one.details = {"NVML told of it"};
    out.push_back(std::move(one));
  }
}

// Does NVML tell of Xids of these cards? The field last_xid has a value where it does.
bool hears_nvml(const store::Snapshot& snapshot, const std::vector<std::uint32_t>& gpus) {
  return std::ranges::all_of(snapshot.gpus, [&](const store::GpuSnapshot& gpu) {
    return std::ranges::find(gpus, gpu.info.index) == gpus.end() ||
           gpu.state != device::GpuState::present || gpu.readings.get(FieldId::last_xid).ok();
  });
}

}  // namespace

DiagLoad::DiagLoad(const DiagNode& node, const config::Settings& settings, diag::StateLook before)
    : settings_(settings), log_(node.env()) {
  load_.before = std::move(before);
}

void DiagLoad::begin(std::vector<std::uint32_t> gpus) {
  load_.gpus = std::move(gpus);
  load_.began = system_clock().monotonic();
}

void DiagLoad::end() { load_.ended = system_clock().monotonic(); }

std::vector<diag::TestResult> DiagLoad::look_again(const DiagNode& node, const std::string& data,
                                                   bool shared, const AskedToStop& stop,
                                                   const AskedToStop& leave_it) {
  const auto again = DiagNode::open(settings_, data, leave_it);
  if (!again) return not_looked(again.error().describe());
  load_.after = look_until_sure(**again, settings_, load_.gpus, stop);
  if (stop()) return not_looked("stopped");
  load_.during = node.snapshot();
  load_.samples = node.samples();
  load_.shared = shared;
  hear(load_);
  return diag::check_under_load(load_);
}

void DiagLoad::hear(diag::UnderLoad& load) {
  const auto driver = store::driver_version(load.before.snapshot);
  std::map<PciAddress, std::set<std::uint32_t>> told;
  for (const auto& event : log_.heard()) {
    const auto* gpu = event.pci ? store::gpu_at(load.before.snapshot, *event.pci) : nullptr;
    if (gpu == nullptr) continue;
    if (event.kind == EventKind::xid && event.code) told[gpu->info.pci].insert(*event.code);
    load.events.push_back(event_of(event, gpu->info.index, driver));
  }
  for (const auto& gpu : load.before.snapshot.gpus)
    add_nvml_xids(gpu, load.during, told[gpu.info.pci], load.events);
  if (log_.problem().empty()) return;
  if (hears_nvml(load.during, load.gpus)) {
    note_ = "of the kernel only Xids were heard, by NVML: " + log_.problem();
  } else {
    load.unheard = log_.problem() + "; nor does NVML tell of Xids";
  }
}

std::vector<diag::TestResult> DiagLoad::not_looked(const std::string& reason) const {
  std::vector<diag::TestResult> out;
  for (const auto& gpu : load_.before.snapshot.gpus) {
    if (std::ranges::find(load_.gpus, gpu.info.index) == load_.gpus.end()) continue;
    std::ranges::move(diag::not_looked_at(gpu, reason), std::back_inserter(out));
  }
  return out;
}

}  // namespace stoker::app
