#include "export/dcgm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "catalog/xid.h"

namespace stoker::exporting {
namespace {

// One line of every family: a GPU, or a GPU instance of one.
struct Line {
  std::string labels;
  const store::ReadingSet* own = nullptr;
  const store::ReadingSet* card = nullptr;  // a GPU instance falls back to its card's

  [[nodiscard]] Reading get(FieldId id) const {
    return card != nullptr && !own->has(id) ? card->get(id) : own->get(id);
  }
};

// Order and spelling: dcgm-exporter internal/pkg/rendermetrics/render_metrics.go. The host label was
// renamed in d5e5f51 (2026-05-12, #655).
std::string labels_of(const store::GpuSnapshot& gpu, const device::MigInfo* mig,
                      const store::Snapshot& snapshot, HostLabel host) {
  std::string labels;
  // A GPU that could never be opened is known by its address alone; it has no index.
  const auto index = gpu.info.uuid.empty() ? std::string() : fmt::format_int(gpu.info.index).str();
  append_label(labels, "gpu", index);
  append_label(labels, "UUID", gpu.info.uuid);
  append_label(labels, "pci_bus_id", gpu.info.pci.nvml());
  append_label(labels, "device", index.empty() ? index : "nvidia" + index);
  append_label(labels, "modelName", gpu.info.name);
  if (mig != nullptr) {
    // A compute instance's profile has the slices in front: "1c.3g.40gb" lies in a "3g.40gb".
    std::string_view profile = mig->profile;
    if (const auto c = profile.find("c."); c != std::string_view::npos)
      profile.remove_prefix(c + 2);
    append_label(labels, "GPU_I_PROFILE", profile);
    append_label(labels, "GPU_I_ID", fmt::format_int(mig->gpu_instance).c_str());
  }
  const bool both = host == HostLabel::both;
  if (both || host == HostLabel::upper) append_label(labels, "Hostname", snapshot.hostname);
  if (both || host == HostLabel::lower) append_label(labels, "hostname", snapshot.hostname);
  if (snapshot.driver && !snapshot.driver->driver_version.empty()) {
    append_label(labels, "DCGM_FI_DRIVER_VERSION", snapshot.driver->driver_version);
  }
  return labels;
}

void add_lines(std::vector<Line>& lines, const store::GpuSnapshot& gpu,
               const store::Snapshot& snapshot, HostLabel host) {
  static const store::ReadingSet nothing;
  std::vector<std::uint32_t> shown;  // several compute instances may share one GPU instance
  for (std::uint32_t n = 0; n < gpu.info.migs.size(); ++n) {
    const device::MigInfo& mig = gpu.info.migs[n];
    if (std::find(shown.begin(), shown.end(), mig.gpu_instance) != shown.end()) continue;
    shown.push_back(mig.gpu_instance);
    const auto readings = gpu.migs.find(n);
    lines.push_back({.labels = labels_of(gpu, &mig, snapshot, host),
                     .own = readings != gpu.migs.end() ? &readings->second : &nothing,
                     .card = &gpu.readings});
  }
  if (!shown.empty()) return;
  lines.push_back(
      {.labels = labels_of(gpu, nullptr, snapshot, host), .own = &gpu.readings, .card = nullptr});
}

std::vector<const Field*> fields_to_write(const RenderOptions& options) {
  std::vector<const Field*> rows;
  for (const Field& row : all_fields()) {
    const bool wanted = std::find(options.extra_fields.begin(), options.extra_fields.end(),
                                  row.id) != options.extra_fields.end();
    if (row.series == Series::on || (wanted && !row.dcgm_name.empty())) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const Field* a, const Field* b) { return a->dcgm_id < b->dcgm_id; });
  return rows;
}

// DCGM's int64 values are cut off, e.g. bytes / 1024 / 1024 (DcgmCacheManager.cpp).
std::int64_t as_dcgm_integer(const Field& row, const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole != nullptr && row.dcgm_scale == 1.0) return *whole;
  const double scaled = std::floor(as_double(value) * row.dcgm_scale);
  constexpr double limit = 9.2e18;  // below 2^63
  return static_cast<std::int64_t>(std::clamp(scaled, -limit, limit));
}

void write_value(Exposition& out, const Field& row, const std::string& labels, const Value& value) {
  if (row.dcgm_double()) {
    out.sample_fixed(labels, as_double(value) * row.dcgm_scale);
    return;
  }
  const std::int64_t whole = as_dcgm_integer(row, value);
  if (row.id != FieldId::last_xid) {
    out.sample(labels, whole);
    return;
  }
  std::string with_code = labels;
  append_label(with_code, "err_code", fmt::format_int(whole).c_str());
  append_label(with_code, "err_msg", xid_name(static_cast<std::uint64_t>(whole)));
  out.sample(with_code, whole);
}

}  // namespace

void write_dcgm(Exposition& out, const store::Snapshot& snapshot, const RenderOptions& options) {
  std::vector<Line> lines;
  for (const store::GpuSnapshot& gpu : snapshot.gpus) {
    add_lines(lines, gpu, snapshot, options.host_label);
  }
  for (const Field* row : fields_to_write(options)) {
    out.family(row->dcgm_name,
               row->kind == FieldKind::counter ? MetricType::counter : MetricType::gauge,
               row->help);
    for (const Line& line : lines) {
      const Reading reading = line.get(row->id);
      if (reading.ok()) write_value(out, *row, line.labels, reading.value);
    }
  }
}

}  // namespace stoker::exporting
