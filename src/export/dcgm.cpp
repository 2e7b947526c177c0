#include "export/dcgm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "catalog/xid.h"
#include "export/owner_labels.h"

namespace stoker::exporting {
namespace {

// One line of every family: a GPU, or a GPU instance of one.
struct Line {
  std::string labels;
  std::size_t own_labels_at = 0;  // where in `labels` those of one series alone belong
  const device::MigInfo* mig = nullptr;
  const store::ReadingSet* own = nullptr;
  const store::ReadingSet* card = nullptr;  // a GPU instance falls back to its card's

  [[nodiscard]] Reading get(FieldId id) const {
    return card != nullptr && !own->has(id) ? card->get(id) : own->get(id);
  }
};

// What `list` has, and the further fields that are wanted and not in it.
std::vector<CounterSeries> series_to_write(const CounterList& list,
                                           const std::vector<FieldId>& extra_fields) {
  std::vector<CounterSeries> all = list.series;
  for (const FieldId id : extra_fields) {
    const Field& row = field(id);
    const bool listed = std::any_of(all.begin(), all.end(), [&row](const CounterSeries& one) {
      return one.name == row.dcgm_name;
    });
    if (listed || row.dcgm_name.empty()) continue;
    all.push_back({.field = &row,
                   .name = std::string(row.dcgm_name),
                   .type = row.kind == FieldKind::counter ? MetricType::counter : MetricType::gauge,
                   .help = std::string(row.help)});
  }
  std::sort(all.begin(), all.end(), [](const CounterSeries& a, const CounterSeries& b) {
    return std::tie(a.field->dcgm_id, a.name) < std::tie(b.field->dcgm_id, b.name);
  });
  return all;
}

// DCGM's int64 values are cut off, e.g. bytes / 1024 / 1024 (DcgmCacheManager.cpp).
std::int64_t as_dcgm_integer(const Field& row, const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole != nullptr && row.dcgm_scale == 1.0) return *whole;
  const double scaled = std::floor(as_double(value) * row.dcgm_scale);
  constexpr double limit = 9.2e18;  // below 2^63
  return static_cast<std::int64_t>(std::clamp(scaled, -limit, limit));
}

// As a series' value would be printed.
std::string label_value(const Field& row, const Value& value) {
  if (row.dcgm_double()) return fmt::format("{:.6f}", as_double(value) * row.dcgm_scale);
  return fmt::format_int(as_dcgm_integer(row, value)).str();
}

// Order and spelling: dcgm-exporter internal/pkg/rendermetrics/render_metrics.go. The host label was
// renamed in d5e5f51 (2026-05-12, #655).
void append_card(std::string& labels, const store::GpuSnapshot& gpu, const device::MigInfo* mig) {
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
}

void append_host(std::string& labels, const std::string& hostname, HostLabel host) {
  const bool both = host == HostLabel::both;
  if (both || host == HostLabel::upper) append_label(labels, "Hostname", hostname);
  if (both || host == HostLabel::lower) append_label(labels, "hostname", hostname);
}

// Those that the list asks for. What is not known has no label.
void append_listed(Line& line, const CounterList& list, const store::Snapshot& snapshot,
                   const store::GpuSnapshot& gpu) {
  for (const CounterLabel& label : list.labels) {
    if (label.text != nullptr) {
      const std::string value = label.text->text(snapshot, gpu.info);
      if (!value.empty()) append_label(line.labels, label.name, value);
    } else if (const Reading reading = line.get(label.field->id); reading.ok()) {
      append_label(line.labels, label.name, label_value(*label.field, reading.value));
    }
  }
}

std::vector<Line> lines_of(const store::GpuSnapshot& gpu) {
  static const store::ReadingSet nothing;
  std::vector<Line> lines;
  std::vector<std::uint32_t> shown;  // several compute instances may share one GPU instance
  for (std::uint32_t n = 0; n < gpu.info.migs.size(); ++n) {
    const device::MigInfo& mig = gpu.info.migs[n];
    if (std::find(shown.begin(), shown.end(), mig.gpu_instance) != shown.end()) continue;
    shown.push_back(mig.gpu_instance);
    const auto readings = gpu.migs.find(n);
    Line line;
    line.mig = &mig;
    line.own = readings != gpu.migs.end() ? &readings->second : &nothing;
    line.card = &gpu.readings;
    append_card(line.labels, gpu, &mig);
    lines.push_back(std::move(line));
  }
  if (!shown.empty()) return lines;
  Line line;
  line.own = &gpu.readings;
  append_card(line.labels, gpu, nullptr);
  lines.push_back(std::move(line));
  return lines;
}

// One line for each that has to be told apart by its owner.
void append_owned(std::vector<Line>& lines, const Line& line, const store::Snapshot& snapshot,
                  const store::GpuSnapshot& gpu, const SeriesOptions& options) {
  for (const OwnerLabels& owner :
       line_owners(snapshot, gpu, line.mig, options.owners, options.pod_labels)) {
    Line owned = line;
    const auto append = [&owned](const std::string& labels) {
      if (!labels.empty()) owned.labels.append(",").append(labels);
    };
    append(owner.before_err);
    owned.own_labels_at = owned.labels.size();
    append(owner.after_err);
    lines.push_back(std::move(owned));
  }
}

void write_value(Exposition& out, const Field& row, const Line& line, const Value& value) {
  if (row.dcgm_double()) {
    out.sample_fixed(line.labels, as_double(value) * row.dcgm_scale);
    return;
  }
  const std::int64_t whole = as_dcgm_integer(row, value);
  if (row.id != FieldId::last_xid) {
    out.sample(line.labels, whole);
    return;
  }
  std::string with_code = line.labels.substr(0, line.own_labels_at);
  append_label(with_code, "err_code", fmt::format_int(whole).c_str());
  append_label(with_code, "err_msg", xid_name(static_cast<std::uint64_t>(whole)));
  with_code.append(line.labels, line.own_labels_at);
  out.sample(with_code, whole);
}

}  // namespace

void write_dcgm(Exposition& out, const store::Snapshot& snapshot, const RenderOptions& options) {
  const CounterList& list = options.counters ? *options.counters : default_counters();
  std::vector<Line> lines;
  for (const store::GpuSnapshot& gpu : snapshot.gpus) {
    for (Line& line : lines_of(gpu)) {
      append_host(line.labels, snapshot.hostname, options.series.host_label);
      append_listed(line, list, snapshot, gpu);
      append_owned(lines, line, snapshot, gpu, options.series);
    }
  }
  for (const CounterSeries& series : series_to_write(list, options.series.extra_fields)) {
    out.family(series.name, series.type, series.help);
    for (const Line& line : lines) {
      const Reading reading = line.get(series.field->id);
      if (reading.ok()) write_value(out, *series.field, line, reading.value);
    }
  }
}

}  // namespace stoker::exporting
