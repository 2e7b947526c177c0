// Ground stage: the only vocabulary of what may be done about a finding (ARCHITECTURE.md).
#pragma once

#include <optional>
#include <string_view>

namespace stoker {

enum class Action {
  observe,
  restart_job,
  limit_power,
  reset_gpu,
  reset_domain,
  drain_p2p,
  recover_imex_domain,
  reboot,
  power_cycle,
  field_diag,
  replace,
  inspect_cable,
  fix_config,
  contact_vendor,
};

// Stable lower-case word, e.g. "reset_gpu".
const char* to_string(Action action);

std::optional<Action> action_of(std::string_view word);

// What a plan is made of; `act` carries an Action.
enum class Step { hold, cordon, drain, evict, stop_process, act, prove, release, ask };

const char* to_string(Step step);

}  // namespace stoker
