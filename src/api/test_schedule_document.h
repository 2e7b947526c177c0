// Edge: the agent's schedule of tests in the status document, and for people.
#pragma once

#include <string>

#include "api/document_reader.h"
#include "base/json_text.h"
#include "store/snapshot.h"

namespace stoker::api {

// "tests": what the schedule is, and where it has each GPU; null where there is none.
void write_test_schedule(JsonWriter& json, const store::Snapshot& snapshot);

// The same of a status document: a line, and with cards a table; empty where there is no schedule, unless `verbose`.
std::string view_test_schedule(const Json& status, bool verbose);

}  // namespace stoker::api
