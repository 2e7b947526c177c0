// Event stage: reads how the boot before this one ended and what the kernel said last, from the journal and from pstore.
#pragma once

#include "model/previous_boot.h"
#include "os/env.h"

namespace stoker::event {

// Takes as long as reading the last half hour of a journal does: for a thread that nobody waits for. What is not there is
// said in `notes`, and is no error.
PreviousBoot read_previous_boot(const os::Env& env);

}  // namespace stoker::event
