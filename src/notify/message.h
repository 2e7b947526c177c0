// Edge: what other systems are sent about an incident. Pure.
#pragma once

#include <string>

#include "model/incident.h"

namespace stoker::notify {

// "node-1/17/3": node, id and revision. The same content always has the same key, so that a receiver may drop what comes
// twice.
std::string key_of(const Incident& incident, const std::string& node);

// {"schema":"stoker.dev/v1/notification","key","node","id","revision","state","entity","about","cause","severity",
// "action","message","fix","source","opened_at","updated_at","resolved_at","occurrences","programs":[],"evidence":[]}.
std::string webhook_body(const Incident& incident, const std::string& node);

// One alert for POST /api/v2/alerts (https://github.com/prometheus/alertmanager, api/v2/openapi.yaml). Its labels are those
// that never change of an incident, and its cause and severity. `ends_at`: until when it holds if nothing more is said.
std::string alert_body(const Incident& incident, const std::string& node, WallTime ends_at);

}  // namespace stoker::notify
