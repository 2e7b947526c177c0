// Edge: /api/v1/events: what the kernel and the driver said of late, as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/result.h"
#include "model/event_source.h"
#include "model/finding.h"
#include "model/previous_boot.h"
#include "store/event_log.h"
#include "store/snapshot.h"

namespace stoker::api {

// [after=NUMBER]: only events behind this number; 0 where it is left out. invalid_input with what would be right.
Result<std::uint64_t> parse_events_question(std::string_view query);

// {"schema":"stoker.dev/v1/event","told":N,"sources":[...],"previous_boot":{...},"events":[{"number",…,"gpu",…}]}, in the
// order in which they were told. What a number means follows from the snapshot's driver; "gpu" is the index of the GPU
// that stands at the event's address.
std::string events_document(const store::EventsKept& kept, const std::vector<EventSource>& sources,
                            const store::Snapshot& snapshot,
                            const std::optional<PreviousBoot>& previous = std::nullopt);

// "previous_boot": how it ended and what is known of it, without its events; null: it has not been read, or is not to be.
void write_previous_boot(JsonWriter& json, const std::optional<PreviousBoot>& previous);

// One for each source that can't be read, or has lost records.
std::vector<Finding> event_source_findings(const std::vector<EventSource>& sources);

}  // namespace stoker::api
