// Edge: how the boot before this one ended, for people.
#pragma once

#include <string>

#include "api/document_reader.h"

namespace stoker::api {

// "ended uncleanly at 2026-11-29T04:00:00.000Z: its journal breaks off without a shutdown", of an object of
// write_previous_boot(); empty: it is none.
std::string previous_boot_words(const Json& object);

}  // namespace stoker::api
