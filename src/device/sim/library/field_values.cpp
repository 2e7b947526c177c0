// Simulated library: nvmlDeviceGetFieldValues, the one call for a few hundred numbered values.
#include <cstring>
#include <span>

#include "device/sim/library/costs.h"
#include "device/sim/library/field_live.h"
#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

const FieldRow* row_of(const Gpu& gpu, std::uint32_t id) {
  for (const FieldRow& row : gpu.field_values) {
    if (row.source == FieldSource::none) return nullptr;  // rows are filled from the front
    if (row.id == id) return &row;
  }
  return nullptr;
}

void put(FieldValue& out, const FieldRow& row, std::uint64_t bits) {
  out.type = static_cast<ValueType>(row.value_type);
  std::memcpy(&out.value, &bits, sizeof bits);
}

void answer(const View& view, FieldValue& out) {
  out.timestamp_us = static_cast<std::int64_t>(view.wall_us());
  out.latency_us = static_cast<std::int64_t>(cost_of_field(out.field_id) / 1000);
  const FieldRow* row = row_of(view.gpu, out.field_id);
  if (row == nullptr) {
    out.status = Return::not_supported;
    return;
  }
  out.status = static_cast<Return>(row->code);
  if (row->source == FieldSource::untouched) return;
  if (row->source == FieldSource::constant || out.status != Return::success) {
    put(out, *row, row->bits);
    return;
  }
  const auto live = live_value(view, out.field_id, out.scope_id);
  if (live) out.status = live->status;
  put(out, *row, live ? live->bits : row->bits);
}

std::uint64_t cost_of_all(std::span<const FieldValue> values) {
  std::uint64_t sum = 0;
  for (const FieldValue& value : values) sum += cost_of_field(value.field_id);
  return sum;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetFieldValues(Device device, int values_count, FieldValue* values) {
  const bool good = values_count > 0 && values != nullptr;
  const std::span<FieldValue> all(values, good ? static_cast<std::size_t>(values_count) : 0);
  bool costs = false;
  const Return answered = on_gpu(fn(__func__), device, good, [&](const View& view) {
    for (FieldValue& value : all) answer(view, value);
    costs = view.state.driver.cost_profile == CostProfile::captured;
    return Return::success;
  });
  if (costs) pay(cost_of_all(all));
  return answered;
}

}  // extern "C"
}  // namespace stoker::sim
