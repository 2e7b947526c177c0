// Edge: a planned maintenance for people.
#pragma once

#include <string>

#include "api/document_reader.h"

namespace stoker::api {

// "until 2026-11-29T04:00:00Z, by root: new driver", of an object of write_maintenance(); empty: it is none.
std::string maintenance_words(const Json& object);

}  // namespace stoker::api
