// Device stage: tells one load of the driver from the next by a file that comes with it.
#pragma once

#include <string>

namespace stoker::device::probe {

// Something that differs after `path` was taken away and made anew; empty while it is not there. In
// sysfs an inode number is not given again soon (fs/kernfs/dir.c hands them out in a cycle), and its
// times are those of the inode's last look; elsewhere the time of change tells.
std::string driver_identity(const std::string& path);

}  // namespace stoker::device::probe
