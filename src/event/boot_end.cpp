#include "event/boot_end.h"

#include <algorithm>

namespace stoker::event {
namespace {

constexpr auto end_targets =
    std::to_array<std::string_view>({"shutdown.target", "final.target", "reboot.target",
                                     "poweroff.target", "halt.target", "kexec.target"});

bool is_end_target(std::string_view unit) {
  return std::ranges::find(end_targets, unit) != end_targets.end();
}

}  // namespace

BootEnding ending_of(std::span<const os::JournalMessage> messages) {
  bool started_again = false;
  bool asked_for = false;
  for (const auto& one : messages) {
    if (one.id == message_journal_stop && !started_again) {
      return {BootEnd::clean, "its journal was stopped as a shutdown does it"};
    }
    if (one.id == message_unit_started && is_end_target(one.unit)) {
      return {BootEnd::clean, "systemd reached " + one.unit};
    }
    started_again |= one.id == message_journal_start;
    asked_for |= one.id == message_shutdown;
  }
  if (asked_for)
    return {BootEnd::unknown, "a shutdown was begun, and its end is not in the journal"};
  if (messages.empty()) return {BootEnd::unknown, "its journal has nothing of systemd's"};
  return {BootEnd::unclean, "its journal breaks off without a shutdown"};
}

}  // namespace stoker::event
