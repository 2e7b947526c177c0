#include "export/own_fields.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "export/labels.h"

namespace stoker::exporting {
namespace {

void write_value(Exposition& out, const Field& row, const std::string& labels,
                 const store::ReadingSet& readings) {
  const Reading reading = readings.get(row.id);
  if (!reading.ok()) return;
  const auto* whole = std::get_if<std::int64_t>(&reading.value);
  if (whole != nullptr && row.own_scale() == 1.0) {
    out.sample(labels, *whole);
  } else {
    out.sample(labels, as_double(reading.value) * row.own_scale());
  }
}

void write_gpu(Exposition& out, const Field& row, const store::GpuSnapshot& gpu,
               const std::string& labels) {
  if (row.entity == EntityKind::gpu) write_value(out, row, labels, gpu.readings);
  if (row.entity == EntityKind::gpu || row.entity == EntityKind::mig) {
    for (const auto& [number, readings] : gpu.migs) {
      if (number >= gpu.info.migs.size() || !readings.get(row.id).ok()) continue;
      write_value(out, row, mig_labels(labels, gpu.info.migs[number]), readings);
    }
  }
  if (row.entity == EntityKind::nvlink) {
    for (const auto& [number, readings] : gpu.nvlinks) {
      if (!readings.get(row.id).ok()) continue;
      write_value(out, row, with(labels, "nvlink", fmt::format_int(number).c_str()), readings);
    }
  }
}

}  // namespace

void write_own_fields(Exposition& out, const store::Snapshot& snapshot,
                      const std::vector<std::string>& labels) {
  for (const Field& row : all_fields()) {
    if (row.series != Series::own) continue;
    const std::string name = row.own_metric();
    out.family(name, row.kind == FieldKind::counter ? MetricType::counter : MetricType::gauge,
               row.help, row.own_unit());
    if (row.entity == EntityKind::node) {
      write_value(out, row, {}, snapshot.node);
      continue;
    }
    for (std::size_t n = 0; n < labels.size(); ++n) {
      write_gpu(out, row, snapshot.gpus[n], labels[n]);
    }
  }
}

void write_missing(Exposition& out, const store::Snapshot& snapshot) {
  std::map<std::pair<FieldId, Reason>, std::int64_t> counts;
  const auto count = [&counts](const store::ReadingSet& readings, EntityKind kind) {
    for (const Field& row : all_fields()) {
      if (row.entity != kind || row.series == Series::hidden) continue;
      const Reason reason = readings.get(row.id).reason;
      if (reason != Reason::ok) ++counts[{row.id, reason}];
    }
  };
  for (const store::GpuSnapshot& gpu : snapshot.gpus) count(gpu.readings, EntityKind::gpu);
  count(snapshot.node, EntityKind::node);

  out.family("stoker_reading_missing", MetricType::gauge,
             "Of how many GPUs (or of the node) a field has no value, and why");
  for (const auto& [key, number] : counts) {
    std::string labels;
    append_label(labels, "field", field(key.first).name);
    append_label(labels, "reason", to_string(key.second));
    out.sample(labels, number);
  }
}

}  // namespace stoker::exporting
