// Edge: what people ask to be done to an incident: the body of POST /api/v1/incidents/{id}.
#pragma once

#include <string>

#include "base/result.h"
#include "incident/book.h"

namespace stoker::api {

// {"to":"acknowledged|mitigating|suppressed|resolved|open","note":"...","for_seconds":3600}; all but "to" may be left
// out, for_seconds goes with suppressed alone. invalid_input says what would be right. `who` is left empty.
Result<incident::Request> parse_incident_request(const std::string& body);
// The body that reads back as `request`.
std::string incident_request_body(const incident::Request& request);

}  // namespace stoker::api
