// Export stage: the series of the ports of the node's RDMA cards: node_exporter's names where the same thing is meant.
#pragma once

#include <span>
#include <string_view>

#include "export/exposition.h"
#include "store/snapshot.h"

namespace stoker::exporting {

struct RdmaSeries {
  std::string_view counter;  // the file in sysfs
  std::string_view name;
  std::uint64_t times;
  std::string_view help;
};
std::span<const RdmaSeries> rdma_series();

// Nothing where no port is known. Raw counters: they may fall where somebody clears them, go round or stop at their width, as
// rate() and increase() expect of any counter.
void write_rdma(Exposition& out, const store::Snapshot& snapshot);

}  // namespace stoker::exporting
