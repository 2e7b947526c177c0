// Device stage: which rows of the ABI table hold in the driver that was opened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/nvml/abi_table.h"
#include "device/nvml/functions.h"

namespace stoker::nvml {

struct MatchedAbi {
  DriverVersion version = newest_driver;
  std::vector<std::string> notes;  // for people: what differs from the table, and what follows
};

// Compares what the library exports with the table's rows for `driver_version` ("580.159.04").
// Clears each function of the table that has no row there: what it would write is not known, so it
// must not be called. A version that can't be read counts as the newest, and is noted.
MatchedAbi match_abi(const std::string& driver_version, abi::Functions& functions);

}  // namespace stoker::nvml
