// Export stage: a bound on how many series one scrape has. Prometheus throws a scrape above its
// sample_limit away as a whole; whole families taken out here leave the rest of the node visible.
// https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/exposition.h"

namespace stoker::exporting {

// Eight GPUs of seven MIG devices each have 4,005 series with every field on that Stoker reads
// (series_guard_test.cpp counts them): what has five times as many is no node, but labels gone wild.
inline constexpr std::size_t default_max_series = 20000;

inline constexpr std::string_view dropped_metric = "stoker_series_dropped";

struct DroppedFamily {
  std::string name;
  std::uint64_t series = 0;
};

// Takes whole families out of `text` until at most `most` series are left, one of dropped_metric for
// each that is gone counted in. `families` are all of `text`. The family with the most series goes
// first, of equals the one whose name is later; those that say whether the node and its GPUs are well
// stay, whatever `most` is. Returns what was taken out, in that order.
std::vector<DroppedFamily> drop_families(std::string& text, const std::vector<FamilySpan>& families,
                                         std::size_t most);

}  // namespace stoker::exporting
