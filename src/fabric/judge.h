// Fabric analyzer: sweeps in, one verdict a cable out. Pure: no clock, no file, no fabric.
#pragma once

#include "fabric/verdict.h"

namespace stoker::fabric {

// `previous`: an earlier sweep, for what was counted between the two; `expected`: the fabric as it should be, for where
// cables belong, without which `previous` says where they were. Either may be nullptr.
Judged judge(const Sweep& now, const Sweep* previous, const Sweep* expected);

}  // namespace stoker::fabric
