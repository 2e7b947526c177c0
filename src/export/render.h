// Export stage: the whole text of /metrics from one Snapshot. Pure: memory in, text out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "export/counters.h"
#include "export/exposition.h"
#include "export/owner_labels.h"
#include "export/series_guard.h"
#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::exporting {

// dcgm-exporter called the host label Hostname up to release 4.5.3-4.8.2 and hostname after it.
enum class HostLabel { upper, lower, both, none };

// What the exporter tells about its own scrapes so far.
struct ScrapeCounters {
  std::uint64_t scrapes = 0;
  double render_seconds = 0;  // in all
};

// What an operator may choose about the series.
struct SeriesOptions {
  HostLabel host_label = HostLabel::upper;
  // DCGM series that are not in the list of counters and wanted beside it (rows with a DCGM name).
  std::vector<FieldId> extra_fields;
  std::string node_label;  // value of `node` on every series; empty: no such label
  OwnerSeries owners = OwnerSeries::inline_labels;
  PodLabels pod_labels = PodLabels::pod;  // on DCGM's series
  std::size_t max_series = default_max_series;
  bool rdma = true;  // the ports of RDMA cards
};

struct RenderOptions {
  SeriesOptions series;
  std::shared_ptr<const CounterList> counters;  // nullptr: default_counters()
  // About what is told here, not about the node: counted beside the node's own, and never judged.
  std::vector<Finding> own_findings;
  std::string version;   // stoker_build_info
  std::string revision;  // stoker_build_info
  ScrapeCounters scrapes;
};

struct Rendered {
  std::string text;
  std::vector<DroppedFamily> dropped;  // what the text does not have, to stay below max_series
};

Rendered render(const store::Snapshot& snapshot, const std::vector<Finding>& findings,
                const RenderOptions& options, Format format);

}  // namespace stoker::exporting
