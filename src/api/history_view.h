// Edge: a history document for people.
#pragma once

#include <string>

#include "api/text_plot.h"
#include "base/result.h"

namespace stoker::api {

// One series: a tall curve. Several: a line of bars each, on one scale. Under each what it was at
// least, on average, at most and last, and how long there was no value, and why.
Result<std::string> plot_history(const std::string& document, const PlotStyle& style);

// At most 60 rows: the time, and the mean of every series.
Result<std::string> view_history(const std::string& document);

}  // namespace stoker::api
