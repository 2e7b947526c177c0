// Fabric analyzer: a drawing of the affected part for people, at most 80 columns wide: the switches that have cables with a
// verdict, what is at their other ends, and how many of their cables have none.
#pragma once

#include <string>

#include "fabric/verdict.h"

namespace stoker::fabric {

// Of what is told at `least` or graver; empty where nothing is.
std::string drawing(const Sweep& now, const Judged& judged, Severity least);

}  // namespace stoker::fabric
