// Machine stage: systemd's journal, as far as it tells what the kernel said in an earlier boot. The only place that sees
// libsystemd, which is loaded where there is a journal to read and needed nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"

namespace stoker::os {

// What the kernel said.
struct JournalRecord {
  std::string text;
  WallTime time;                   // when it was said
  std::uint64_t microseconds = 0;  // the same by the kernel's own clock, since that boot
  std::uint64_t sequence = 0;      // its number in the journal; rises
  bool by_program = false;         // written into the kernel's log by a program
};

// A message that systemd numbers, <systemd/sd-messages.h>.
struct JournalMessage {
  std::string id;    // 32 hex digits
  std::string unit;  // that it is about; empty: none
  WallTime time;
};

// The last part of one boot.
struct JournalTail {
  std::string boot;                      // boot id, as the kernel spells it
  WallTime ended;                        // its last record, whoever wrote it
  std::vector<JournalRecord> kernel;     // oldest first
  bool cut = false;                      // there were more within the time than are kept
  std::vector<JournalMessage> messages;  // of those asked for, newest first
};

struct JournalLimits {
  std::size_t records = 10'000;
  Seconds before_end{1800};
  std::size_t messages = 4096;
};

// Of the boot before `boot` (another one whose last record is the newest), from the journal in `folder`
// ("/var/log/journal"), which may have one folder a machine. nullopt: it has no other boot. not_found: there is no
// journal; no_permission: none of its files may be read; unavailable: libsystemd can't be loaded.
Result<std::optional<JournalTail>> read_boot_before(const Env& env, std::string_view folder,
                                                    const std::string& boot,
                                                    std::span<const std::string_view> message_ids,
                                                    const JournalLimits& limits = {});

}  // namespace stoker::os
