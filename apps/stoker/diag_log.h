// Composition: what the kernel says while `stoker diag` works, from a place in its log on. A place and no time: the stamps of
// the kernel's log run away from the clock that the rest of a run is told by.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "event/event_parser.h"
#include "event/open_log.h"
#include "model/event.h"
#include "os/env.h"

namespace stoker::app {

class DiagLog {
 public:
  // From the log's end on, as it is now.
  explicit DiagLog(std::shared_ptr<const os::Env> env);

  // What was said since the last time; problem(): why it is not all.
  std::vector<Event> heard();
  // Empty: everything could be heard so far.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool pass_over();
  bool read(std::vector<os::KmsgRecord>& records);

  const std::shared_ptr<const os::Env> env_;
  event::OpenLog log_;
  event::EventParser parser_;
  std::string problem_;
};

}  // namespace stoker::app
