// Composition: a terminal for `stoker top`: draws its screens, takes keys and clicks.
#pragma once

#include <functional>

#include "api/top_screen.h"
#include "base/clock.h"

namespace stoker::app {

// Asks the agent for what the screen needs; may take its time. `uuid` is that of the chosen GPU.
using AskForTop =
    std::function<api::TopDocuments(const std::string& uuid, const std::string& graph)>;

// Until q, Ctrl-C or the end of input. false: standard output is no terminal that curses knows.
bool run_top(const AskForTop& ask, Nanoseconds interval, bool unicode);

}  // namespace stoker::app
