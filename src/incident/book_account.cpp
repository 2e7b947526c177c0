#include <algorithm>

#include "incident/book.h"

namespace stoker::incident {

bool Book::add_account(const std::function<bool(const Finding&)>& concerns,
                       const std::vector<std::string>& lines, const std::string& explanation,
                       WallTime now) {
  bool told = false;
  for (auto& [id, incident] : incidents_) {
    if (is_over(incident) || std::ranges::none_of(incident.findings, concerns)) continue;
    for (const auto& line : lines) add_evidence(incident, now, line);
    if (!explanation.empty()) incident.explanation = explanation;
    changed_.insert(id);
    told = true;
  }
  return told;
}

}  // namespace stoker::incident
