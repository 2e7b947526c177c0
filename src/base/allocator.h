// Ground stage: what glibc's malloc keeps, in the programs that run for months.
#pragma once

namespace stoker {

// Before the second thread. A large block goes back to the system when it is freed, whatever was freed
// before, and threads share their arenas.
void settle_allocator();

}  // namespace stoker
