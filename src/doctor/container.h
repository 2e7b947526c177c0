// Analyzer stage: is what is seen here a container's?
#pragma once

#include <string>

#include "doctor/node.h"

namespace stoker::doctor {

// How it is known that these files are a container's; empty: nothing says so.
std::string sign_of_container(const Node& node);

}  // namespace stoker::doctor
