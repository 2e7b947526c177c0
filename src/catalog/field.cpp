#include "catalog/field.h"

#include <array>

namespace stoker {
namespace {

constexpr std::array<Field, field_count> field_rows = {{
#define STOKER_FIELD(id, unit, kind, entity, getter, argument, cost, dcgm_id, dcgm_name, \
                     dcgm_alias, dcgm_scale, series, help)                               \
  Field{FieldId::id,                                                                     \
        #id,                                                                             \
        Unit::unit,                                                                      \
        FieldKind::kind,                                                                 \
        EntityKind::entity,                                                              \
        Getter::getter,                                                                  \
        argument,                                                                        \
        CostClass::cost,                                                                 \
        dcgm_id,                                                                         \
        dcgm_name,                                                                       \
        dcgm_alias,                                                                      \
        dcgm_scale,                                                                      \
        Series::series,                                                                  \
        help},
#include "catalog/fields.def"
#undef STOKER_FIELD
}};

}  // namespace

const char* to_string(Getter getter) {
  switch (getter) {
    case Getter::clock_info: return "clock_info";
    case Getter::throttle_reasons: return "throttle_reasons";
    case Getter::field_value: return "field_value";
    case Getter::temperature: return "temperature";
    case Getter::thermal_margin: return "thermal_margin";
    case Getter::power_usage: return "power_usage";
    case Getter::enforced_power_limit: return "enforced_power_limit";
    case Getter::energy: return "energy";
    case Getter::performance_state: return "performance_state";
    case Getter::fan_speed: return "fan_speed";
    case Getter::utilization_rates: return "utilization_rates";
    case Getter::encoder_utilization: return "encoder_utilization";
    case Getter::decoder_utilization: return "decoder_utilization";
    case Getter::gpm: return "gpm";
    case Getter::memory_info: return "memory_info";
    case Getter::bar1_info: return "bar1_info";
    case Getter::xid_event: return "xid_event";
    case Getter::ecc_total: return "ecc_total";
    case Getter::retired_pages: return "retired_pages";
    case Getter::remapped_rows: return "remapped_rows";
    case Getter::inforom: return "inforom";
    case Getter::pcie_replay: return "pcie_replay";
    case Getter::pcie_link: return "pcie_link";
    case Getter::nvlink_state: return "nvlink_state";
    case Getter::nvlink_errors: return "nvlink_errors";
    case Getter::fabric_info: return "fabric_info";
    case Getter::persistence_mode: return "persistence_mode";
    case Getter::compute_mode: return "compute_mode";
    case Getter::ecc_mode: return "ecc_mode";
    case Getter::mig_mode: return "mig_mode";
    case Getter::vgpu_license: return "vgpu_license";
    case Getter::processes: return "processes";
    case Getter::derived: return "derived";
    case Getter::node_cpu: return "node_cpu";
    case Getter::node_memory: return "node_memory";
    case Getter::node_filesystem: return "node_filesystem";
    case Getter::count_: break;
  }
  return "unknown";
}

const char* to_string(CostClass cost) {
  switch (cost) {
    case CostClass::cheap: return "cheap";
    case CostClass::firmware: return "firmware";
    case CostClass::gpm: return "gpm";
    case CostClass::dear: return "dear";
    case CostClass::rare: return "rare";
    case CostClass::fixed: return "fixed";
  }
  return "cheap";
}

CostClass slower_class(CostClass cost) {
  switch (cost) {
    case CostClass::cheap:
    case CostClass::gpm: return CostClass::firmware;
    case CostClass::firmware:
    case CostClass::dear: return CostClass::dear;
    case CostClass::rare: return CostClass::rare;
    case CostClass::fixed: return CostClass::fixed;
  }
  return CostClass::dear;
}

std::string Field::key() const {
  std::string text(name);
  if (const auto suffix = key_suffix(unit); !suffix.empty()) text.append("_").append(suffix);
  return text;
}

std::string Field::own_metric() const {
  std::string text = "stoker_";
  // An NVLink's row already says nvlink_.
  if (entity != EntityKind::nvlink) text.append(to_string(entity)).append("_");
  text += name;
  if (!own_unit().empty()) text.append("_").append(own_unit());
  if (kind == FieldKind::counter) text += "_total";
  return text;
}

std::string_view Field::own_unit() const {
  switch (unit) {
    case Unit::percent: return "ratio";
    case Unit::megahertz: return "hertz";
    case Unit::nanoseconds: return "seconds";
    default: return key_suffix(unit);
  }
}

double Field::own_scale() const {
  switch (unit) {
    case Unit::percent: return 0.01;
    case Unit::megahertz: return 1e6;
    case Unit::nanoseconds: return 1e-9;
    default: return 1;
  }
}

bool Field::dcgm_double() const {
  return unit == Unit::watts || (unit == Unit::percent && dcgm_scale != 1);
}

std::span<const Field> all_fields() { return field_rows; }

const Field& field(FieldId id) { return field_rows.at(static_cast<std::size_t>(id)); }

std::optional<FieldId> find_field(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const Field& row : field_rows) {
    if (row.name == name || row.dcgm_name == name || row.dcgm_alias == name || row.key() == name) {
      return row.id;
    }
  }
  return std::nullopt;
}

}  // namespace stoker
