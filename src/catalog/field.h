// Catalogue: the field table as types. Rows stand in fields.def; nothing here is written by hand
// for a single field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/entity.h"
#include "model/unit.h"

namespace stoker {

enum class FieldId : std::uint16_t {
#define STOKER_FIELD(id, ...) id,
#include "catalog/fields.def"
#undef STOKER_FIELD
  count_,
};
inline constexpr std::size_t field_count = static_cast<std::size_t>(FieldId::count_);

enum class FieldKind : std::uint8_t { gauge, counter, state };

// Which call delivers a field. Several fields may share one call; batches (field_value, gpm) ask for
// many arguments at once. device/nvml/getters.cpp implements those of the GPU, sample/node_sampler
// those of the node; `derived` is computed in sample/derive.
enum class Getter : std::uint8_t {
  clock_info,
  throttle_reasons,
  field_value,
  temperature,
  thermal_margin,
  power_usage,
  enforced_power_limit,
  energy,
  performance_state,
  fan_speed,
  utilization_rates,
  encoder_utilization,
  decoder_utilization,
  gpm,
  memory_info,
  bar1_info,
  xid_event,
  ecc_total,
  retired_pages,
  remapped_rows,
  inforom,
  pcie_replay,
  pcie_link,
  nvlink_state,
  nvlink_errors,
  fabric_info,
  persistence_mode,
  compute_mode,
  ecc_mode,
  mig_mode,
  vgpu_license,
  processes,  // no field: the list of processes on a GPU
  derived,
  node_cpu,
  node_memory,
  node_filesystem,
  count_,
};

// Stable lower-case word, e.g. "utilization_rates".
const char* to_string(Getter getter);

// How dear a call is, from measurements on H100/H200 (docs/measurements.md): cheap 1-20 µs, firmware
// 0.1-1 ms (a round trip to the GPU's firmware), gpm 0.7 ms a sample, dear 3 ms and more, rare 15 ms
// and more; fixed values are read once when a GPU is opened.
enum class CostClass : std::uint8_t { cheap, firmware, gpm, dear, rare, fixed };
inline constexpr std::size_t cost_class_count = 6;

const char* to_string(CostClass cost);
// The class that a getter is moved to whose calls have become dearer than its own (sample/schedule.h).
CostClass slower_class(CostClass cost);

enum class Series : std::uint8_t { on, off, own, hidden };

struct Field {
  FieldId id;
  std::string_view name;
  Unit unit;
  FieldKind kind;
  EntityKind entity;
  Getter getter;
  std::uint32_t argument;
  CostClass cost;
  int dcgm_id;
  std::string_view dcgm_name;
  std::string_view dcgm_alias;
  double dcgm_scale;
  Series series;
  std::string_view help;

  // JSON key: name plus unit, e.g. "power_watts".
  [[nodiscard]] std::string key() const;
  // Metric name of an own series, e.g. "stoker_gpu_thermal_margin_celsius", in Prometheus' base units
  // (a ratio for percent, seconds, hertz); counters end in _total.
  [[nodiscard]] std::string own_metric() const;
  // That name's unit, "celsius"; empty for a plain number.
  [[nodiscard]] std::string_view own_unit() const;
  // The value of the own series = our value x this.
  [[nodiscard]] double own_scale() const;
  // A current value proves that the GPU answered just now. Not so what is read once, what is computed
  // from other readings, and the last Xid, which comes from memory.
  [[nodiscard]] bool proves_answer() const {
    return cost != CostClass::fixed && getter != Getter::derived && getter != Getter::xid_event;
  }
  // DCGM tells this as a double (dcgm_fields.cpp: watts and ratios), which dcgm-exporter prints with
  // six decimals; everything else is an int64, cut off and not rounded.
  [[nodiscard]] bool dcgm_double() const;
};

// All rows, in the order of fields.def, indexed by FieldId.
std::span<const Field> all_fields();
const Field& field(FieldId id);
// By our name, key, DCGM name or DCGM alias; nullopt if there is none.
std::optional<FieldId> find_field(std::string_view name);

}  // namespace stoker
