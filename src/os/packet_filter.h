// Machine stage: the kernel's packet filter, as its own tools print it. fabric/filter_rules.h reads that.
#pragma once

#include <chrono>
#include <string>

#include "os/env.h"

namespace stoker::os {

// The rules of this process' network namespace.
struct PacketFilterText {
  std::string nft;         // `nft -j list ruleset`; it has what iptables-nft made, too
  std::string nft_reason;  // why there is none, as the other
  std::string legacy;  // `iptables-legacy-save`; empty without reason: the kernel has no such table
  std::string legacy_reason;
};

struct PacketFilterTools {
  std::string nft;     // a path; empty: not installed
  std::string legacy;  // of iptables-legacy-save
};
// Where distributions have them; PATH is not asked, for it is the user's.
PacketFilterTools find_packet_filter_tools();

// Starts the tools as children, each with `timeout` to end, and waits for them. It needs CAP_NET_ADMIN, without which no
// child is started. `env`'s host root tells whether the kernel has tables of the old iptables: asking for them would make
// it load them.
PacketFilterText read_packet_filter(const Env& env, const PacketFilterTools& tools,
                                    std::chrono::milliseconds timeout);

}  // namespace stoker::os
