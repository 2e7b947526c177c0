// Ground stage: the stable words of every enumeration, in one place.
#include "model/action.h"
#include "model/entity.h"
#include "model/finding.h"
#include "model/previous_boot.h"
#include "model/reading.h"
#include "model/test_schedule.h"
#include "model/unit.h"

namespace stoker {
namespace {

// The value whose word it is, of all up to `last`.
template <typename Enum>
std::optional<Enum> value_of(std::string_view word, Enum last) {
  for (int n = 0; n <= static_cast<int>(last); ++n) {
    if (word == to_string(static_cast<Enum>(n))) return static_cast<Enum>(n);
  }
  return std::nullopt;
}

}  // namespace

std::optional<EntityKind> entity_kind_of(std::string_view word) {
  return value_of(word, EntityKind::cluster);
}
std::optional<Action> action_of(std::string_view word) {
  return value_of(word, Action::contact_vendor);
}
std::optional<Severity> severity_of(std::string_view word) {
  return value_of(word, Severity::critical);
}

std::optional<TestRunEnd> test_run_end_of(std::string_view word) {
  return value_of(word, TestRunEnd::given_up);
}

const char* to_string(EntityKind kind) {
  switch (kind) {
    case EntityKind::node: return "node";
    case EntityKind::gpu: return "gpu";
    case EntityKind::mig: return "mig";
    case EntityKind::nvlink: return "nvlink";
    case EntityKind::nvswitch: return "nvswitch";
    case EntityKind::port: return "port";
    case EntityKind::nic: return "nic";
    case EntityKind::process: return "process";
    case EntityKind::pod: return "pod";
    case EntityKind::job: return "job";
    case EntityKind::file: return "file";
    case EntityKind::object: return "object";
    case EntityKind::cluster: return "cluster";
  }
  return "node";
}

const char* to_string(Reason reason) {
  switch (reason) {
    case Reason::ok: return "ok";
    case Reason::pending: return "pending";
    case Reason::not_supported: return "not_supported";
    case Reason::no_permission: return "no_permission";
    case Reason::no_source: return "no_source";
    case Reason::lost: return "lost";
    case Reason::hung: return "hung";
    case Reason::stale: return "stale";
    case Reason::invalid: return "invalid";
    case Reason::driver_gone: return "driver_gone";
    case Reason::failed: return "failed";
  }
  return "failed";
}

const char* describe(Reason reason) {
  switch (reason) {
    case Reason::ok: return "read";
    case Reason::pending: return "not read yet";
    case Reason::not_supported: return "not supported by this device or driver";
    case Reason::no_permission: return "no permission to read it";
    case Reason::no_source: return "no open source for it on this architecture";
    case Reason::lost: return "the GPU is off the bus or gone";
    case Reason::hung: return "the driver call has not returned";
    case Reason::stale: return "the last value is too old to be told as current";
    case Reason::invalid: return "the driver answered outside the physical range";
    case Reason::driver_gone: return "the driver is not loaded or its library is missing";
    case Reason::failed: return "the driver call failed";
  }
  return "the driver call failed";
}

const char* to_string(Action action) {
  switch (action) {
    case Action::observe: return "observe";
    case Action::restart_job: return "restart_job";
    case Action::limit_power: return "limit_power";
    case Action::reset_gpu: return "reset_gpu";
    case Action::reset_domain: return "reset_domain";
    case Action::drain_p2p: return "drain_p2p";
    case Action::recover_imex_domain: return "recover_imex_domain";
    case Action::reboot: return "reboot";
    case Action::power_cycle: return "power_cycle";
    case Action::field_diag: return "field_diag";
    case Action::replace: return "replace";
    case Action::inspect_cable: return "inspect_cable";
    case Action::fix_config: return "fix_config";
    case Action::contact_vendor: return "contact_vendor";
  }
  return "contact_vendor";
}

const char* to_string(Step step) {
  switch (step) {
    case Step::hold: return "hold";
    case Step::cordon: return "cordon";
    case Step::drain: return "drain";
    case Step::evict: return "evict";
    case Step::stop_process: return "stop_process";
    case Step::act: return "act";
    case Step::prove: return "prove";
    case Step::release: return "release";
    case Step::ask: return "ask";
  }
  return "ask";
}

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
    case Severity::critical: return "critical";
  }
  return "critical";
}

const char* to_string(BootEnd end) {
  switch (end) {
    case BootEnd::unknown: return "unknown";
    case BootEnd::clean: return "clean";
    case BootEnd::unclean: return "unclean";
  }
  return "unknown";
}

const char* to_string(FindingState state) {
  switch (state) {
    case FindingState::suspect: return "suspect";
    case FindingState::firing: return "firing";
    case FindingState::clear: return "clear";
  }
  return "firing";
}

std::string_view key_suffix(Unit unit) {
  switch (unit) {
    case Unit::none: return "";
    case Unit::count: return "";
    case Unit::percent: return "percent";
    case Unit::ratio: return "ratio";
    case Unit::celsius: return "celsius";
    case Unit::watts: return "watts";
    case Unit::joules: return "joules";
    case Unit::megahertz: return "mhz";
    case Unit::bytes: return "bytes";
    case Unit::bytes_per_second: return "bytes_per_second";
    case Unit::seconds: return "seconds";
    case Unit::nanoseconds: return "nanoseconds";
  }
  return "";
}

std::string_view symbol(Unit unit) {
  switch (unit) {
    case Unit::none: return "";
    case Unit::count: return "";
    case Unit::percent: return "%";
    case Unit::ratio: return "";
    case Unit::celsius: return "°C";
    case Unit::watts: return "W";
    case Unit::joules: return "J";
    case Unit::megahertz: return "MHz";
    case Unit::bytes: return "B";
    case Unit::bytes_per_second: return "B/s";
    case Unit::seconds: return "s";
    case Unit::nanoseconds: return "ns";
  }
  return "";
}

const char* to_string(TestRunEnd end) {
  switch (end) {
    case TestRunEnd::passed: return "passed";
    case TestRunEnd::failed: return "failed";
    case TestRunEnd::hindered: return "hindered";
    case TestRunEnd::not_made: return "not_made";
    case TestRunEnd::not_ended: return "not_ended";
    case TestRunEnd::given_up: return "given_up";
  }
  return "not_made";
}

const char* to_string(TestState state) {
  switch (state) {
    case TestState::waits: return "waits";
    case TestState::runs: return "runs";
    case TestState::in_use: return "in_use";
    case TestState::held_by_pod: return "held_by_pod";
    case TestState::pods_unknown: return "pods_unknown";
    case TestState::unknown: return "unknown";
    case TestState::mig: return "mig";
    case TestState::incident: return "incident";
    case TestState::maintenance: return "maintenance";
    case TestState::unread: return "unread";
    case TestState::count_: break;
  }
  return "unknown";
}

}  // namespace stoker
