// Event stage: which log has what the kernel says: its own, else the first journal, else the first syslog file that has
// this boot.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/env.h"
#include "os/kmsg.h"

namespace stoker::event {

struct OpenLog {
  std::string name;  // "/dev/kmsg", or the folder or file in its place
  std::unique_ptr<os::KmsgFollower> follower;
};

// `boot`: this boot's id. Of the kernel's own log `start` is taken; of what stands for it all of this boot is told that it
// still has. The error is the first one's, with those of the others. `env` must outlive the follower.
Result<OpenLog> open_kernel_log(const os::Env& env, const std::string& boot,
                                os::KmsgStart start = os::KmsgStart::oldest,
                                std::string_view path = "/dev/kmsg");

}  // namespace stoker::event
