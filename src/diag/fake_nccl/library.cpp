// Test support: a libnccl.so.2 that is installed and does not start (nccl_test.cpp), as where its environment is wrong.
#include <cstddef>

#define STOKER_FAKE_NCCL extern "C" __attribute__((visibility("default")))

namespace {
constexpr int version_2_28_9 = 22809;
constexpr int system_error = 2;  // ncclSystemError (nccl.h)
}  // namespace

// NOLINTBEGIN(readability-identifier-naming): as NCCL has them
STOKER_FAKE_NCCL int ncclGetVersion(int* version) {
  *version = version_2_28_9;
  return 0;
}
STOKER_FAKE_NCCL int ncclCommInitAll(void** /*comms*/, int /*count*/, const int* /*devices*/) {
  return system_error;
}
STOKER_FAKE_NCCL int ncclGroupStart() { return 0; }
STOKER_FAKE_NCCL int ncclGroupEnd() { return 0; }
STOKER_FAKE_NCCL int ncclAllReduce(const void* /*from*/, void* /*to*/, std::size_t /*count*/,
                                   int /*type*/, int /*operation*/, void* /*comm*/,
                                   void* /*stream*/) {
  return 0;
}
STOKER_FAKE_NCCL int ncclCommDestroy(void* /*comm*/) { return 0; }
STOKER_FAKE_NCCL const char* ncclGetErrorString(int /*result*/) { return "unhandled system error"; }
// NOLINTEND(readability-identifier-naming)
