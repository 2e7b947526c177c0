// Export stage: the whole text of /metrics from one Snapshot. Pure: memory in, text out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/exposition.h"
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

struct RenderOptions {
  HostLabel host_label = HostLabel::upper;
  // DCGM series that are off by default, wanted by the operator (catalog rows with a DCGM name).
  std::vector<FieldId> extra_fields;
  std::string version;   // stoker_build_info
  std::string revision;  // stoker_build_info
  ScrapeCounters scrapes;
};

std::string render(const store::Snapshot& snapshot, const std::vector<Finding>& findings,
                   const RenderOptions& options, Format format);

}  // namespace stoker::exporting
