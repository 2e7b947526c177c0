// Composition: the doctor's view of this machine, or of a folder that holds a copy of another.
#pragma once

#include <memory>

#include "doctor/node.h"
#include "os/env.h"

namespace stoker::app {

// `env` outlives it. What was read once is told again from memory, so that all checks see one moment. One thread.
std::unique_ptr<doctor::Node> make_doctor_node(const os::Env& env);

}  // namespace stoker::app
