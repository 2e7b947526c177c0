#include "export/render.h"

#include "export/dcgm.h"
#include "export/own.h"

namespace stoker::exporting {
namespace {

std::string common_labels(const SeriesOptions& options) {
  std::string labels;
  if (!options.node_label.empty()) append_label(labels, "node", options.node_label);
  return labels;
}

void write_dropped(Exposition& out, const std::vector<DroppedFamily>& dropped) {
  out.family(dropped_metric, MetricType::gauge,
             "Series of families that were left out to stay below metrics.max_series");
  for (const DroppedFamily& family : dropped) {
    std::string labels;
    append_label(labels, "family", family.name);
    out.sample(labels, std::uint64_t{family.series});
  }
}

}  // namespace

Rendered render(const store::Snapshot& snapshot, const std::vector<Finding>& findings,
                const RenderOptions& options, Format format) {
  constexpr std::size_t bytes_per_gpu = 24 * 1024;
  constexpr std::size_t bytes_per_node = 32 * 1024;
  Rendered rendered;
  std::string& text = rendered.text;
  text.reserve(bytes_per_node + snapshot.gpus.size() * bytes_per_gpu);
  Exposition out(text, format, common_labels(options.series));
  write_dcgm(out, snapshot, options);
  write_own(out, snapshot, findings, options);
  rendered.dropped = drop_families(text, out.families(), options.series.max_series);
  write_dropped(out, rendered.dropped);
  out.finish();
  return rendered;
}

}  // namespace stoker::exporting
