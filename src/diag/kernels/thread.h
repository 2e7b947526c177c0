// Diag stage: what a kernel's body may use. Each body is plain C++ that is compiled twice: by clang to PTX, and by the
// host's compiler for tests and simulated nodes, where a thread stands for an SM.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): PTX is made without a C++ library

#if defined(__CUDA__)
#define STOKER_BODY __attribute__((device, always_inline)) inline
#define STOKER_KERNEL extern "C" __attribute__((global)) void
#else
#define STOKER_BODY inline
#endif

namespace stoker::diag {

// 16 bytes: what one load or store of a thread moves at its best.
typedef uint32_t Words __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)

// Where a body runs.
struct Thread {
  uint32_t block = 0;
  uint32_t blocks = 1;
  uint32_t lane = 0;   // within the block
  uint32_t lanes = 1;  // threads of a block
  uint32_t sm = 0;     // the multiprocessor, as the card numbers them

  [[nodiscard]] STOKER_BODY uint64_t index() const { return uint64_t{block} * lanes + lane; }
  [[nodiscard]] STOKER_BODY uint64_t count() const { return uint64_t{blocks} * lanes; }
};

#if defined(__CUDA__)
STOKER_BODY Thread this_thread() {
  uint32_t sm = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return {static_cast<uint32_t>(__nvvm_read_ptx_sreg_ctaid_x()),
          static_cast<uint32_t>(__nvvm_read_ptx_sreg_nctaid_x()),
          static_cast<uint32_t>(__nvvm_read_ptx_sreg_tid_x()),
          static_cast<uint32_t>(__nvvm_read_ptx_sreg_ntid_x()), sm};
}
#endif

// The finaliser of MurmurHash3 (https://github.com/aappleby/smhasher/wiki/MurmurHash3): every bit of `x` changes half of
// the bits of the result, and no two `x` have the same.
STOKER_BODY uint32_t mixed(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  x ^= x >> 16;
  return x;
}

}  // namespace stoker::diag
