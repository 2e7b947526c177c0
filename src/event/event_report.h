// Event stage: events as people and scripts read them (docs/specs/events.md).
#pragma once

#include <string>

#include "base/json_text.h"
#include "event/judgement.h"
#include "event/log_scan.h"

namespace stoker::event {

// One object; its keys are those of docs/specs/contracts.md.
void write_event(JsonWriter& json, const FoundEvent& found, const Judgement& judged);
// Those of its members that have nothing to do with where and when it was found.
void write_event_members(JsonWriter& json, const Event& event, const Judgement& judged);

// "2024-08-09T11:32:56.123Z  xid 79  0000:3b:00.0  hardware  reboot" and below it what it means, where it stands and
// what was said, in lines of at most `width` columns.
std::string event_block(const FoundEvent& found, const Judgement& judged, std::size_t width);

}  // namespace stoker::event
