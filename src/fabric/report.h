// Fabric analyzer: what was found, for programs and in a line.
#pragma once

#include <string>

#include "fabric/verdict.h"

namespace stoker::fabric {

// {"schema":"stoker.dev/v1/fabric-report","findings":[...],"links":[...]}: findings as everywhere, and for each the cables
// it is about, with both ends as `now` has them (docs/specs/fabric.md).
std::string write_report(const Sweep& now, const Judged& judged);

// "12 cables and 32 ports (8 without a cable) in 0.4 s by mlx5_0 port 1".
std::string summary(const Sweep& now, const Judged& judged);

}  // namespace stoker::fabric
