// Machine stage: systemd's journal, as far as it tells what the kernel said, in an earlier boot or in this. os/journal_*
// are the only place that sees libsystemd, which is loaded where there is a journal to read and needed nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"
#include "os/kmsg.h"

namespace stoker::os {

// Where journald writes; the second is lost with the machine. Both are asked, for either may be mounted elsewhere.
inline constexpr auto journal_folders =
    std::to_array<std::string_view>({"/var/log/journal", "/run/log/journal"});

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

// Follows what the kernel says in `boot`, from the oldest record of it in `folder`: where the kernel's own log may not be
// read, the journal may (a member of the group systemd-journal or adm). A record's number is the journal's. Errors as above;
// not_found also where the journal has nothing that the kernel said in this boot.
Result<std::unique_ptr<KmsgFollower>> follow_journal(const Env& env, std::string_view folder,
                                                     const std::string& boot);

}  // namespace stoker::os
