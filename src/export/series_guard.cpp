#include "export/series_guard.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace stoker::exporting {
namespace {

// Without these a node looks well, or can't be told from one that is not there. Their number is
// bounded by GPUs, rules and states.
constexpr auto essential = std::to_array<std::string_view>(
    {"stoker_build_info", "stoker_simulated", "stoker_source_state", "stoker_verdict",
     "stoker_findings", "stoker_gpus", "stoker_gpu_state"});

struct Candidate {
  std::size_t place = 0;  // in `families`
  std::string_view name;
  std::size_t series = 0;
};

std::vector<Candidate> candidates(const std::string& text,
                                  const std::vector<FamilySpan>& families) {
  std::vector<Candidate> all;
  for (std::size_t n = 0; n < families.size(); ++n) {
    const FamilySpan& family = families[n];
    const auto name = std::string_view(text).substr(family.name_at, family.name_size);
    if (std::find(essential.begin(), essential.end(), name) != essential.end()) continue;
    all.push_back({.place = n, .name = name, .series = family.series});
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.series != b.series ? a.series > b.series : a.name > b.name;
  });
  return all;
}

}  // namespace

std::vector<DroppedFamily> drop_families(std::string& text, const std::vector<FamilySpan>& families,
                                         std::size_t most) {
  std::size_t left =
      std::accumulate(families.begin(), families.end(), std::size_t{0},
                      [](std::size_t sum, const FamilySpan& one) { return sum + one.series; });
  if (left <= most) return {};
  std::vector<DroppedFamily> dropped;
  std::vector<bool> gone(families.size(), false);
  for (const Candidate& one : candidates(text, families)) {
    if (left <= most || one.series <= 1) break;  // a line about it would take its place
    gone[one.place] = true;
    left -= one.series - 1;
    dropped.push_back({.name = std::string(one.name), .series = one.series});
  }
  std::string kept;
  kept.reserve(text.size());
  if (!families.empty()) kept.append(text, 0, families.front().begin);
  for (std::size_t n = 0; n < families.size(); ++n) {
    const std::size_t end = n + 1 < families.size() ? families[n + 1].begin : text.size();
    if (!gone[n]) kept.append(text, families[n].begin, end - families[n].begin);
  }
  text = std::move(kept);
  return dropped;
}

}  // namespace stoker::exporting
