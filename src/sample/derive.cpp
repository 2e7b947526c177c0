#include "sample/derive.h"

#include <optional>

namespace stoker::sample {
namespace {

using device::TargetReading;

const Reading* find(const std::vector<TargetReading>& batch, FieldId field) {
  for (const TargetReading& told : batch) {
    if (told.field == field && told.target.kind == EntityKind::gpu) return &told.reading;
  }
  return nullptr;
}

void put(FieldId field, const Reading& reading, std::vector<TargetReading>& out) {
  out.push_back({device::Target{}, field, reading});
}

// The sum of both directions; the reason of the one that is missing.
Reading sum_of(const Reading& sent, const Reading& received, RisingCounter& counter) {
  if (!sent.ok()) return Reading::none(sent.reason, sent.taken_at);
  if (!received.ok()) return Reading::none(received.reason, received.taken_at);
  const double kib = (as_double(sent.value) + as_double(received.value)) / 1024;
  return Reading::of(static_cast<std::int64_t>(counter.take(kib)), received.taken_at);
}

// How many links are up; unknown as soon as one is. Nothing where the batch has no link.
std::optional<Reading> links_up(const std::vector<TargetReading>& batch) {
  std::optional<Reading> up;
  std::int64_t count = 0;
  for (const TargetReading& told : batch) {
    if (told.field != FieldId::nvlink_state) continue;
    if (!told.reading.ok()) return Reading::none(told.reading.reason, told.reading.taken_at);
    count += as_double(told.reading.value) == 1.0 ? 1 : 0;
    up = Reading::of(count, told.reading.taken_at);
  }
  return up;
}

}  // namespace

void GpuDerivation::derive(const std::vector<TargetReading>& batch,
                           std::vector<TargetReading>& out) {
  const Reading* power = find(batch, FieldId::power);
  const Reading* count = find(batch, FieldId::energy_driver);
  if (power != nullptr) energy_.on_power(*power);
  if (count != nullptr) energy_.on_driver(*count);
  if (power != nullptr || count != nullptr) put(FieldId::energy, energy_.now(), out);

  const Reading* sent = find(batch, FieldId::nvlink_data_tx);
  const Reading* received = find(batch, FieldId::nvlink_data_rx);
  if (sent != nullptr && received != nullptr) {
    put(FieldId::nvlink_bandwidth_total, sum_of(*sent, *received, nvlink_kib_), out);
  }
  if (const auto up = links_up(batch)) {
    put(FieldId::nvlink_links_up, *up, out);
  } else if (!has_links_ && power != nullptr) {
    put(FieldId::nvlink_links_up, Reading::none(Reason::not_supported, power->taken_at), out);
  }
}

void GpuDerivation::put_last_xid(std::vector<TargetReading>& batch) const {
  if (last_xid_ == 0) return;
  for (TargetReading& told : batch) {
    if (told.field != FieldId::last_xid || !told.reading.ok()) continue;
    if (as_double(told.reading.value) == 0) {
      told.reading.value = static_cast<std::int64_t>(last_xid_);
    }
  }
}

void Derive::on_status(const device::SourceStatus& status) { next_.on_status(status); }
void Derive::on_driver(const device::DriverInfo& driver) { next_.on_driver(driver); }

void Derive::on_inventory(const std::vector<device::GpuInfo>& gpus) {
  for (const device::GpuInfo& gpu : gpus) {
    const auto known = gpus_.find(gpu.pci);
    if (known != gpus_.end() && known->second.uuid() == gpu.uuid) {
      known->second.update(gpu);
      continue;
    }
    // Another card in the slot has counters of its own.
    if (known != gpus_.end()) gpus_.erase(known);
    gpus_.try_emplace(gpu.pci, gpu);
  }
  next_.on_inventory(gpus);
}

void Derive::on_readings(const PciAddress& gpu, const std::vector<TargetReading>& readings) {
  const auto known = gpus_.find(gpu);
  if (known == gpus_.end()) {
    next_.on_readings(gpu, readings);
    return;
  }
  batch_ = readings;
  known->second.put_last_xid(batch_);
  known->second.derive(readings, batch_);
  next_.on_readings(gpu, batch_);
}

void Derive::on_processes(const PciAddress& gpu, const Reading& outcome,
                          const std::vector<device::ProcessInfo>& processes) {
  next_.on_processes(gpu, outcome, processes);
}

void Derive::on_gpu_state(const PciAddress& gpu, device::GpuState state,
                          const std::string& detail) {
  next_.on_gpu_state(gpu, state, detail);
}

void Derive::on_costs(const PciAddress& gpu, const std::vector<device::CallCost>& costs) {
  next_.on_costs(gpu, costs);
}

void Derive::on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) {
  const auto known = gpus_.find(gpu);
  if (known != gpus_.end()) known->second.on_xid(xid);
  next_.on_xid(gpu, xid, at);
}

}  // namespace stoker::sample
