// Edge: /api/v1/history: what was kept of one field, as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "history/history.h"
#include "store/snapshot.h"

namespace stoker::api {

// field=NAME[&gpu=INDEX|UUID][&since=1h][&step=reading|minute]
struct HistoryQuestion {
  FieldId field = FieldId::count_;
  std::string gpu;  // index or UUID; empty: every one
  Nanoseconds since = Seconds(3600);
  std::optional<history::Step> step;  // nullopt: the finest that reaches back so far
};

// invalid_input with what would be right: a parameter that is none, a field without a history.
Result<HistoryQuestion> parse_history_question(std::string_view query,
                                               const history::History& history);

// {"schema":"stoker.dev/v1/history","field",…,"series":[{…,"samples":[{"time","power_watts"},…]}]}; by
// minute with <key>_min and <key>_max beside the mean. A time without a value has null and its reason;
// "not_watched" where no agent ran. not_found where the GPU asked for has none.
Result<std::string> history_document(const store::Snapshot& snapshot,
                                     const history::History& history,
                                     const HistoryQuestion& question);

}  // namespace stoker::api
