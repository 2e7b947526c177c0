// Edge: /api/v1/incidents: what is wrong, one object a cause, as JSON (docs/specs/incidents.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/result.h"
#include "model/incident.h"

namespace stoker::api {

// [state=WORD[,WORD]...]: only those; all that are kept where it is left out. invalid_input with what would be right.
Result<std::vector<IncidentState>> parse_incidents_question(std::string_view query);

// {"schema":"stoker.dev/v1/incident","incidents":[...]}, the newest first; of each the first and the last four lines of
// evidence, so that the list of a bad day stays small.
std::string incidents_document(const std::vector<Incident>& incidents,
                               const std::vector<IncidentState>& states);
// The same of one, with all the evidence that is kept.
std::string incident_document(const Incident& incident);

}  // namespace stoker::api
