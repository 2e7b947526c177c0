// Event stage: did a boot end on purpose? Told from what systemd wrote into the journal at its end. Pure.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "model/previous_boot.h"
#include "os/journal.h"

namespace stoker::event {

// <systemd/sd-messages.h>. What a boot's end is told from, and that systemd wrote into this journal at all.
inline constexpr std::string_view message_journal_start = "f77379a8490b408bbe5f6940505a777b";
inline constexpr std::string_view message_journal_stop = "d93fb3c9c24d451a97cea615ce59c00b";
inline constexpr std::string_view message_shutdown = "98268866d1d54a499c4e98921d93bc40";
inline constexpr std::string_view message_unit_started = "39f53479d3a045ac8e11786248231fbf";
inline constexpr std::array<std::string_view, 4> boot_end_messages = {
    message_journal_start, message_journal_stop, message_shutdown, message_unit_started};

struct BootEnding {
  BootEnd end = BootEnd::unknown;
  std::string why;
};

// `messages`: of those above, newest first.
// clean: the journal's own "Journal stopped" and no start behind it, or systemd reached one of the targets at which
// everything is stopped (systemd.special(7): shutdown, final, reboot, poweroff, halt, kexec).
// unknown: a shutdown was asked for, and its end is not there; or nothing of systemd is.
// unclean: systemd wrote, and nothing of that.
BootEnding ending_of(std::span<const os::JournalMessage> messages);

}  // namespace stoker::event
