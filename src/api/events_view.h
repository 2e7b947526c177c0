// Edge: the events document for people.
#pragma once

#include <string>

#include "base/result.h"
#include "model/render.h"

namespace stoker::api {

struct EventsView {
  std::string text;
  bool any = false;   // is there an event?
  bool read = false;  // are all sources read?
};
// One block an event, oldest first: when, what, where, how bad and what to do; below it what it means and what was
// said. Sources that are not read come last.
Result<EventsView> view_events(const std::string& document, const TableStyle& style);

}  // namespace stoker::api
