// Diag stage: the worker process, which alone has libcuda: it takes a plan from a socket, tells what it finds, and is gone.
#pragma once

namespace stoker::diag {

// Serves the other end of `fd` (device/probe/process.h made it) and returns the exit status: 0 told to the end, 1 it could
// not, 2 not a worker's socket. When the other end goes away, it stops after the launch under way and gives everything
// back.
int run_worker(int fd);

}  // namespace stoker::diag
