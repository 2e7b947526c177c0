// Store stage: which owners of processes may still be told.
#pragma once

#include "store/snapshot.h"

namespace stoker::store {

// Leaves out the owners of pids that no GPU's list of processes has (any more), and of those that were
// looked up longer than `age` before the list came that has the pid now: it may be another process's.
void drop_owners(Snapshot& snapshot, Nanoseconds age);

}  // namespace stoker::store
