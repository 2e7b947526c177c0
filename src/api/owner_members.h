// Edge: whose processes and devices are, as members of the documents. Internal to src/api.
#pragma once

#include <cstdint>
#include <string>

#include "base/json_text.h"
#include "store/snapshot.h"

namespace stoker::api {

// "uid", "user", "container_id", "runtime", "pod", "job" of a process.
void write_owner(JsonWriter& json, const store::Snapshot& snapshot, std::uint32_t pid);
// "holders": the containers that hold the GPU or MIG instance with this UUID.
void write_holders(JsonWriter& json, const store::Snapshot& snapshot, const std::string& uuid);
// "attribution": how each way of finding out stands, and what it could not place.
void write_attribution(JsonWriter& json, const store::Snapshot& snapshot);

}  // namespace stoker::api
