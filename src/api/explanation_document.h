// Edge: why an incident is what it is, as the API tells it.
#pragma once

#include <optional>
#include <string>

#include "catalog/driver_version.h"
#include "model/incident.h"

namespace stoker::api {

// {"schema":"stoker.dev/v1/incident-explanation","explanations":[{...}]}; docs/specs/incidents.md has the keys. By the
// numbers of `driver`'s branch; none: by those of the newest.
std::string explanation_document(const Incident& incident,
                                 const std::optional<DriverVersion>& driver);

}  // namespace stoker::api
