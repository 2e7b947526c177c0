// Machine stage: what the kernel kept of its log in memory that outlives a boot, for it had no disk any more: pstore,
// Documentation/admin-guide/pstore-blk.rst and fs/pstore/platform.c in the Linux source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"

namespace stoker::os {

// The end of one log.
struct PstoreDump {
  std::string folder;  // "/sys/fs/pstore"
  std::string name;    // of the file that has its end
  std::string
      reason;        // the kernel's word: "Panic", "Oops", "Emergency", ...; empty: it is not said
  std::string text;  // oldest line first, as `dmesg -r` has them, without what the parts begin with
  WallTime written;  // by the wall clock of then
};

struct Pstore {
  std::vector<PstoreDump> dumps;     // newest first
  std::vector<std::string> skipped;  // "NAME: why"
};

// Files dmesg-* of /sys/fs/pstore, and of /var/lib/systemd/pstore, to where systemd-pstore.service moves them at boot
// (each group into a folder named after its record). What is not there is no dump.
Pstore read_pstore(const Env& env);

}  // namespace stoker::os
