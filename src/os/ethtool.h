// Machine stage: what a network device's driver tells through the SIOCETHTOOL ioctl (include/uapi/linux/ethtool.h), as
// ethtool(8) asks it with -S and -a. Needs no right.
//
// The driver answers in the system call, under the kernel's lock of all network devices (RTNL), and may take as long as it
// likes; mlx5 asks its firmware for counters. Not for a thread that somebody waits for, nor every second.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/roce.h"

namespace stoker::os {

using WantedName = std::function<bool(std::string_view)>;
using NamedCounters = std::map<std::string, std::uint64_t>;

// The counters of `ethtool -S` whose names are `wanted`: a card has thousands, most of them of single queues. Errors:
// not_supported: the driver has none; not_found: no such device in this network namespace.
Result<NamedCounters> read_ethtool_counters(const std::string& netdev, const WantedName& wanted);

// Of ETHTOOL_GSTRINGS and ETHTOOL_GSTATS: names of 32 bytes that end at the first zero, and a value for each. What has no
// partner is left out.
NamedCounters named_counters(std::string_view names, std::span<const std::uint64_t> values,
                             const WantedName& wanted);

// Errors as above.
Result<PauseSettings> read_pause(const std::string& netdev);

}  // namespace stoker::os
