// Machine stage: the functions of libsystemd that os/journal_handle.cpp calls.
#pragma once

#include <systemd/sd-journal.h>

#include "base/result.h"

namespace stoker::os {

// One row a function: its name behind "sd_journal_".
#define STOKER_JOURNAL_CALLS(X) \
  X(open_directory_fd)          \
  X(close)                      \
  X(add_match)                  \
  X(flush_matches)              \
  X(seek_tail)                  \
  X(seek_head)                  \
  X(previous)                   \
  X(next)                       \
  X(get_fd)                     \
  X(process)                    \
  X(get_data)                   \
  X(get_realtime_usec)          \
  X(get_monotonic_usec)         \
  X(get_cursor)                 \
  X(query_unique)               \
  X(enumerate_available_unique)

struct JournalLibrary {
#define STOKER_MEMBER(name) decltype(&::sd_journal_##name) name = nullptr;
  STOKER_JOURNAL_CALLS(STOKER_MEMBER)
#undef STOKER_MEMBER
};

// Loaded at the first call, and never unloaded. unavailable: it is not here, or is older than 246 (2020).
Result<const JournalLibrary*> journal_library();

}  // namespace stoker::os
