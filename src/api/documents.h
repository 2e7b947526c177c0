// Edge: the JSON documents of the API, written from a snapshot. Keys carry their unit; a value that is
// missing is null beside "<key>_reason" (docs/specs/contracts.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "health/expected.h"
#include "history/history.h"
#include "model/finding.h"
#include "model/maintenance.h"
#include "model/previous_boot.h"
#include "model/replay_state.h"
#include "store/snapshot.h"

namespace stoker::api {

// {"schema":"stoker.dev/v1/gpu","gpus":[...]} of the given GPUs, which belong to `snapshot`.
std::string gpus_document(const store::Snapshot& snapshot,
                          const std::vector<const store::GpuSnapshot*>& gpus);

// {"schema":"stoker.dev/v1/status", the verdict, why, what is read and how, "findings":[...]}
struct StatusFacts {
  std::string version;
  std::vector<Finding> findings;  // of the node, as health::evaluate() gives them
  // About the agent and not about the node: listed behind the node's, and never judged.
  std::vector<Finding> own_findings;
  std::optional<ReplayState> replay;
  std::optional<MaintenanceNow> maintenance;
  std::optional<PreviousBoot> previous_boot;
};
std::string status_document(const store::Snapshot& snapshot, const StatusFacts& facts);

// {"schema":"stoker.dev/v1/field","history":{...},"fields":[...]}; nullptr: nothing runs, so no costs
// are known. `history`: what is kept of them; none: nothing is.
std::string fields_document(const store::Snapshot* snapshot,
                            const std::optional<history::HistoryFacts>& history = std::nullopt);

// {"schema":"stoker.dev/v1/error","error":{"code","message"}}
std::string error_document(std::string_view code, std::string_view message);

// `"<key>": value`, or null and `"<key>_reason": "<word>"`.
void write_reading(JsonWriter& json, const std::string& key, const Reading& reading);
void write_missing(JsonWriter& json, const std::string& key, Reason reason);
// `"<key>": "2027-01-15T08:00:00.000Z"`, or null and "not_applicable".
void write_time(JsonWriter& json, std::string_view key, const std::optional<WallTime>& time);
// `"<key>": text`, or as write_missing() where the text is empty.
void member_or_missing(JsonWriter& json, const std::string& key, const std::string& text,
                       Reason reason);
// "simulated": whether the driver in use says that it is Stoker's simulated one; before it is heard,
// true where simulated cards were asked for, else missing.
void write_simulated(JsonWriter& json, const store::Snapshot& snapshot);

}  // namespace stoker::api
