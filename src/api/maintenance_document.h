// Edge: a planned maintenance as JSON: as a page, as what is asked for, and as the file that keeps it.
#pragma once

#include <optional>
#include <string>

#include "base/json_text.h"
#include "base/result.h"
#include "model/maintenance.h"

namespace stoker::api {

// {"schema":"stoker.dev/v1/maintenance","maintenances":[...]}: the one that holds something back now, or none.
std::string maintenance_document(const std::optional<MaintenanceNow>& now);
// That one as an object.
void write_maintenance(JsonWriter& json, const MaintenanceNow& now);
// Such a document for people, one line.
Result<std::string> view_maintenance(const std::string& document);

// {"for_seconds":1800,"why":"..."} begins one, {"over":true} ends it. invalid_input says what would be right. `who` is
// left empty.
Result<MaintenanceRequest> parse_maintenance_request(const std::string& body);
// The body that reads back as `request`.
std::string maintenance_request_body(const MaintenanceRequest& request);

// The file: all of it, to the nanosecond. corrupt: it is none.
std::string maintenance_file(const Maintenance& mark);
Result<Maintenance> parse_maintenance_file(const std::string& text);

}  // namespace stoker::api
