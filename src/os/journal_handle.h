// Machine stage: one journal that is open, as os/journal.cpp and os/journal_follower.cpp read it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "os/env.h"
#include "os/journal.h"
#include "os/journal_library.h"

namespace stoker::os {

// A boot id as /proc/sys/kernel/random/boot_id has it, from the 32 digits of _BOOT_ID; and back.
std::string boot_with_dashes(std::string_view id);
std::string boot_without_dashes(std::string id);

// Of one thread.
class Journal {
 public:
  // What is below `folder`, which may have one folder a machine. not_found: there is no journal; no_permission: none of
  // its files may be read; unavailable: libsystemd can't be loaded.
  static Result<Journal> open(const Env& env, std::string_view folder);

  // From now on only records that have all of these, of one field any of its values.
  Result<void> match(std::initializer_list<std::string> fields);
  Result<void> also_match(const std::string& field);

  Result<void> seek_end();
  Result<void> seek_begin();
  // false: there is none before, or none behind for now.
  Result<bool> previous();
  Result<bool> next();

  // Readable when the journal may have grown, and after `process` no more.
  [[nodiscard]] Result<int> growth_fd() const;
  Result<void> process();

  // Of the record that was gone to; empty: it has no such field.
  std::string field(const char* name);
  WallTime time();
  // Of that record, which the kernel said.
  JournalRecord kernel_record();

  // The ids without dashes, of 1,024 boots at most.
  Result<std::vector<std::string>> boots();

 private:
  Journal(const JournalLibrary& library, std::string name, UniqueFd folder);
  std::uint64_t monotonic();
  std::uint64_t sequence();
  [[nodiscard]] Error error(int code) const;
  [[nodiscard]] Result<void> done(int code) const;
  [[nodiscard]] Result<bool> moved(int code) const;

  const JournalLibrary* library_;
  std::string name_;
  UniqueFd folder_;  // outlives the journal
  std::unique_ptr<sd_journal, decltype(&::sd_journal_close)> journal_;
};

}  // namespace stoker::os
