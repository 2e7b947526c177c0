// Event stage: what an event means and what to do, by the catalogue alone. Pure; an incident may know better, since it
// sees what happened around it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/driver_version.h"
#include "catalog/level.h"
#include "model/action.h"
#include "model/event.h"

namespace stoker::event {

struct Judgement {
  std::optional<FaultLevel> level;
  std::string_view level_reason;  // where there is no level: not_documented, unknown_code, cut
  Action action = Action::contact_vendor;
  std::string meaning;      // in a few words
  std::string_view source;  // URL or document; empty: there is none
};

// Where the driver itself says what to do (Xid 154), that counts. `driver` tells what reused numbers mean.
Judgement judge(const Event& event, const std::optional<DriverVersion>& driver = std::nullopt);

}  // namespace stoker::event
