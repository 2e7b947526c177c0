// Event stage: the kernel's lines in a file that rsyslog or syslog-ng writes, where neither the kernel's log nor a
// journal may be read.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "os/kmsg.h"

namespace stoker::event {

// Where the kernel's lines are, by what Debian and Ubuntu (kern.log, syslog) and Red Hat and SUSE (messages) set up.
inline constexpr std::array<std::string_view, 3> syslog_files = {
    "/var/log/kern.log", "/var/log/messages", "/var/log/syslog"};

// From the beginning of this boot, where the last 16 MiB of the file have it; else what in them is of this boot by a time
// with a zone, and what comes. A line that was there before and says no such time nor the kernel's stamp is not told.
// not_found where nobody wrote the file since the boot, or no line of the kernel into it; `env` must outlive the follower.
Result<std::unique_ptr<os::KmsgFollower>> follow_syslog(const os::Env& env, std::string_view path);

}  // namespace stoker::event
