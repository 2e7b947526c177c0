// Composition: a sweep from NVIDIA UFM, which has already looked at the subnet.
#pragma once

#include <string>

#include "base/result.h"
#include "fabric/sweep.h"

namespace stoker::app {

struct UfmAccess {
  std::string url;         // "https://ufm.example"; its path is UFM's own affair
  std::string token_file;  // an access token that UFM gave out
  std::string ca_file;     // PEM; empty: the system's authorities
};

// GET of its list of ports, and nothing else. Its counters are not asked for.
Result<fabric::Sweep> read_ufm(const UfmAccess& access);

}  // namespace stoker::app
