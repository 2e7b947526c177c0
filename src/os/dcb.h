// Machine stage: Data Center Bridging of a network device, asked over rtnetlink (include/uapi/linux/dcbnl.h). Needs no
// right: only setting does (net/dcb/dcbnl.c, dcb_doit).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/roce.h"

namespace stoker::os {

// Asks the kernel once. The driver answers in the system call, under the kernel's lock of all network devices (RTNL), and
// may take as long as it likes: not for a thread that somebody waits for. Errors: not_supported by the driver, not_found: no
// such device in this network namespace.
Result<DcbSettings> read_dcb(const std::string& netdev);

// The kernel's answer to DCB_CMD_IEEE_GET: whole netlink messages. Errors: what the kernel says, corrupt: it is no answer.
Result<DcbSettings> parse_dcb_answer(std::string_view messages);

}  // namespace stoker::os
