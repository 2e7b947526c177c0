// Edge: the incidents document for people.
#pragma once

#include <string>

#include "base/result.h"
#include "model/render.h"

namespace stoker::api {

struct IncidentsView {
  std::string text;
  bool any = false;  // is there one that is not over?
};
// A line an incident, the newest first: which, since when, how bad, what, what to do, where it stands.
Result<IncidentsView> view_incidents(const std::string& document, const TableStyle& style);
// Everything about one; the document has one.
Result<IncidentsView> view_incident(const std::string& document, const TableStyle& style);

// The document's incident in one line, as it is now: its number, when it last changed, how bad, what, where it stands,
// what to do, in words.
Result<std::string> view_incident_line(const std::string& document);

// The address of what the document's incident is about; empty: it has none.
Result<std::string> pci_of_incident(const std::string& document);

}  // namespace stoker::api
